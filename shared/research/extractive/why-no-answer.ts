import type { WhyRefused } from '../claims/claim-lines.ts'
import { namesIn } from '../question/label-mentions.ts'
import { contentTerms, plainWords } from '../question/terms.ts'
import { isDoneByPronoun, readAskedVerb } from './asked-verb.ts'
import type { EvidenceUnit } from './evidence-units.ts'
import {
  type AskedKind,
  asSpoken,
  isOfKind,
  LEAVES_OUT,
  namesSaid,
  type QuestionForm,
  readQuestionForm,
} from './question-form.ts'
import { turnedRound } from './relation-direction.ts'
import { DENYING, isReserved, saysFailed } from './said-as-fact.ts'
import { whyOtherwise } from './taken-for-granted.ts'

/** Units that have a question's words. */
interface Found {
  readonly units: readonly EvidenceUnit[]
  readonly relation: readonly string[]
  /** Those of them that say what is asked, where relations were followed: their direction is known to be right. */
  readonly answering?: readonly EvidenceUnit[] | undefined
}

/** Why they do not answer it; undefined: nothing speaks against them. */
export function whyNoAnswer(topic: string, found: Found, labels: readonly string[]): WhyRefused | undefined {
  const { units, relation, answering } = found
  const form = readQuestionForm(topic)
  const { setWords } = form
  if (isOtherwiseDenied(topic, form, units)) return form.negated ? 'negation' : 'denied'
  if (setWords.some((word) => !units.some(({ text }) => plainWords(text).includes(word)))) return 'whole_set'
  const verb = readAskedVerb(asSpoken(topic))?.verb
  const how = { topic, isYesNo: form.isYesNo, verb }
  if (units.some(({ kind: of, text }) => of === 'sentence' && isReserved(text, how))) return 'reserved'
  if (isOtherKind(topic, found, labels)) return 'other_kind'
  const named = namesSaid(topic.replace(/^\S+ /, '')).flatMap(contentTerms)
  const otherwise = whyOtherwise({ topic: asSpoken(topic), isYesNo: form.isYesNo, relation, named }, units)
  if (otherwise !== undefined) return otherwise
  return answering === undefined && units.some(turnedRound(topic, relation, labels)) ? 'other_way' : undefined
}

/** Whether nothing that was found is what the question asks for. */
function isOtherKind(topic: string, { units, relation, answering }: Found, labels: readonly string[]): boolean {
  const { kind } = readQuestionForm(topic)
  const saying =
    answering ?? units.filter(({ terms }) => relation.length === 0 || relation.some((term) => terms.has(term)))
  if (kind !== undefined && !saying.some((unit) => isOfKind(unit, kind, topic))) return true
  const isWhat = kind === undefined || kind === 'which'
  // `What brought it down?` is not answered by what `it` did.
  if (isWhat && saying.length > 0 && saying.every((unit) => isByPronoun(unit, asSpoken(topic)))) return true
  return kind === undefined && relation.length === 0 && asksMoreThanWhat(topic, labels)
}

/** `What is the Tern?` asks for what is known of it, `What is the name of the Tern?` for one thing nobody here looked for. */
function asksMoreThanWhat(topic: string, labels: readonly string[]): boolean {
  const { names, rest } = namesIn(asSpoken(topic), labels)
  return names.length > 0 && plainWords(rest).some((word) => !ASKS_WHAT.has(word))
}

const ASKS_WHAT: ReadonlySet<string> = new Set(
  'what which is are was were the a an and or of on in for tell me us about show give please do does did you we i know known say can could would find there it this that all some more any'.split(
    ' ',
  ),
)

/** The question denies something and what was found does not, or the other way round. */
function isOtherwiseDenied(topic: string, { negated, isYesNo, kind }: QuestionForm, units: readonly EvidenceUnit[]) {
  if (!negated) return !isYesNo && units.some((unit) => isTurned(unit, kind))
  const isSaid = units.some((unit) => unit.kind === 'sentence' && isNegative(unit.text))
  return !isSaid || isYesNo || LEAVES_OUT.test(topic) || units.length > 1
}

const COUNTS_NONE = /^(?:nobody|none|no|zero)$/

function isNegative(text: string): boolean {
  return plainWords(asSpoken(text)).some((word) => DENYING.has(word))
}

/** A sentence that denies it answers nobody who asks who or when; `Nobody was injured` answers how many. */
function isTurned({ kind, text }: EvidenceUnit, asked: AskedKind | undefined): boolean {
  if (kind === 'fact') return false
  if (asked !== 'count' && saysFailed(text)) return true
  const negating = plainWords(asSpoken(text)).filter((word) => DENYING.has(word))
  return asked === 'count' ? negating.some((word) => !COUNTS_NONE.test(word)) : negating.length > 0
}

/** Whoever `he` is: the doer that is asked for has no name there. */
function isByPronoun({ kind, text }: EvidenceUnit, spoken: string): boolean {
  const asked = kind === 'sentence' ? readAskedVerb(spoken) : undefined
  return asked?.asks === 'doer' && isDoneByPronoun(asked.verb, text)
}
