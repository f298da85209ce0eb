import * as z from 'zod'
import { detectLanguage, LANGUAGES } from '../../text/language.ts'
import { quotedList, safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { PortNameSchema, readPortText } from '../read-facts.ts'

const MAX_ANSWER_BYTES = 10_485_760
/** Characters of an answer's start that are read: a refusal says so at once. */
const START = 400

const IsRefusalSchema = z.strictObject({ port: PortNameSchema, expect: z.boolean().default(false) })
type IsRefusal = z.infer<typeof IsRefusalSchema>

export const isRefusal: Gate<IsRefusal> = {
  type: 'is_refusal',
  summary:
    "Passes when the text of the port does not start as a refusal (with `expect: true`: when it does): I'm sorry, but I can't ..; I cannot or am unable to help, assist, answer, provide ..; I won't or must decline ..; As an AI ..; That is against my guidelines. English only.",
  params: IsRefusalSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'answer' }, outputs: { answer: 'Here are the three steps.' }, passes: true },
    { check: { port: 'answer' }, outputs: { answer: "I'm sorry, but I can't help with that." }, passes: false },
  ],
  check: checkRefusal,
}

function checkRefusal({ port, expect }: IsRefusal, facts: GateFacts): CheckResult {
  const read = readPortText(facts, port, MAX_ANSWER_BYTES)
  if ('unfit' in read) return read.unfit
  const start = plainStart(read.text)
  if (start === '')
    return { passed: false, unfit: true, reason: `port ${port} must be an answer, is empty`, facts: { port } }
  const refuses = REFUSALS.some((phrase) => phrase.test(start))
  const seen = refuses ? 'starts as a refusal' : 'does not start as a refusal'
  if (refuses === expect) return { passed: true, reason: seen, facts: { port, refuses } }
  const reason = expect ? `must be a refusal, ${seen}` : `must answer, ${seen}`
  return { passed: false, reason, facts: { port, refuses } }
}

/** Small letters, straight apostrophes, one blank between words, without marks and courtesies before them. */
function plainStart(text: string): string {
  return text
    .slice(0, START * 4)
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[’‘]/g, "'")
    .replace(/\s+/g, ' ')
    .replace(/^[^\p{L}]{1,50}/u, '')
    .toLowerCase()
    .slice(0, START)
    .replace(
      /^(?:(?:hi|hello|thank you|thanks|unfortunately|sorry|apologies|i apologi[sz]e|i appreciate|i understand|i(?:'m| am)(?: \w{1,10})? (?:sorry|afraid))[^.!?,:;—]{0,120}?(?:[.!?,:;—]+| but| that)\s?(?:but |however,? )?){0,3}/,
      '',
    )
}

const ACTS =
  '(?:help|assist|answer|provide|comply|fulfil|fulfill|do that|do this|support|share|discuss|create|write|generate|give|offer|engage|participate|continue with|process|complete|respond|produce|recommend|advise|tell you|be able)'

/** At the start; every gap is bounded. */
const REFUSALS: readonly RegExp[] = [
  new RegExp(
    `^(?:i|we) (?:really |simply |just )?(?:cannot|can't|can not|could not|couldn't|won't|will not|may not|am not going to|shouldn't|should not) (?:in good (?:conscience|faith) )?(?:\\w{1,15} ){0,2}?${ACTS}\\b`,
  ),
  /^(?:i|we)(?:'m| am|'re| are) (?:unable|not able|not allowed|not permitted|not programmed|not comfortable|not in a position|not willing)\b/,
  /^(?:i|we) (?:must|have to|need to|will have to|would have to|respectfully) (?:respectfully |politely )?(?:decline|refuse)\b/,
  /^(?:i|we) (?:decline|refuse) to\b/,
  /^as an? (?:ai|artificial intelligence|large language model|language model)\b/,
  /^(?:i'm|i am) (?:just |only )?an? (?:ai|artificial intelligence|large language model|language model)\b/,
  /^(?:that|this|your request|this request)(?: \w{1,15}){0,4} (?:violates|goes against|is against|conflicts with)\b/,
  /^(?:it is|it's|it would be) against my\b/,
  /^my (?:guidelines|policies|programming|instructions) (?:do not|don't|prevent|prohibit|forbid)\b/,
]

const FinishReasonSchema = z.strictObject({
  allowed: z.array(z.string().min(1).max(100)).min(1).max(20).default(['stop']),
})
type FinishReason = z.infer<typeof FinishReasonSchema>

export const finishReason: Gate<FinishReason> = {
  type: 'finish_reason',
  summary:
    'Passes when the provider said that this answer ended with one of `allowed` (`stop`: a whole answer; `length` is a cut one); where nothing was dispatched it fails.',
  params: FinishReasonSchema,
  reads: () => [],
  sees: (_, { answer }) => answer?.finish_reason ?? null,
  examples: [
    { check: {}, answer: { provider: 'local', model: 'outline', finish_reason: 'stop' }, passes: true },
    { check: {}, answer: { provider: 'local', model: 'outline', finish_reason: 'length' }, passes: false },
  ],
  check: checkFinish,
}

function checkFinish({ allowed }: FinishReason, { answer }: GateFacts): CheckResult {
  if (answer === undefined) {
    const reason = `how the answer ended is not known, must be ${quotedList(allowed)}`
    return { passed: false, unfit: true, reason, facts: { allowed } }
  }
  const { finish_reason } = answer
  const seen = `"${safeOneLine(finish_reason, 80)}"`
  if (allowed.includes(finish_reason)) return { passed: true, reason: `ended with ${seen}`, facts: { finish_reason } }
  const reason = `must end with ${quotedList(allowed)}, ended with ${seen}`
  return { passed: false, reason, facts: { finish_reason, allowed } }
}

const MAX_TEXT_BYTES = 1_048_576

const LanguageSchema = z.strictObject({ port: PortNameSchema, expected: z.enum(LANGUAGES) })
type Language = z.infer<typeof LanguageSchema>

/** The method: shared/text/language.ts. */
export const language: Gate<Language> = {
  type: 'language',
  summary:
    'Passes when the text of the port is mostly in the expected language, by its writing and function words; a text that decides nothing (fewer than 8 words, or 20 letters of a writing that tells) fails with that reason.',
  params: LanguageSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'answer', expected: 'de' },
      outputs: { answer: 'Die Brücke ist alt und wird im Sommer für den Verkehr gesperrt.' },
      passes: true,
    },
    {
      check: { port: 'answer', expected: 'de' },
      outputs: { answer: 'The bridge is old and will be closed to all traffic in the summer.' },
      passes: false,
    },
  ],
  check: checkLanguage,
}

function checkLanguage({ port, expected }: Language, facts: GateFacts): CheckResult {
  const read = readPortText(facts, port, MAX_TEXT_BYTES)
  if ('unfit' in read) return read.unfit
  const seen = detectLanguage(read.text)
  if (seen === undefined) {
    const reason = `must be in language ${expected}, but the text is too short or too mixed to decide its language`
    return { passed: false, unfit: true, reason, facts: { port, expected } }
  }
  if (seen === expected) return { passed: true, reason: `is in language ${seen}`, facts: { port, language: seen } }
  return { passed: false, reason: `must be in language ${expected}, is in ${seen}`, facts: { port, language: seen } }
}
