import type { Json } from '../../shared/canonical.ts'
import { JUDGE_SYSTEM, judgePrompt } from '../../shared/prompts/judge-prompt.ts'
import { evidenceForPrompt } from '../../shared/research/prompt-data.ts'
import { readDoubts } from '../../shared/research/read-answer.ts'
import type { SaidSentence } from '../../shared/research/search-result.ts'
import { askModel, readingOf } from './ask-model.ts'
import type { Shown } from './show-evidence.ts'
import type { StageCall } from './stage-call.ts'
import { tokensLeft } from './tokens-left.ts'

/** What the judge of the settings says of an answer; undefined = there is none, or there is nothing to judge. */
export interface Judgement {
  /** Why, by the text of the sentence. */
  readonly doubts: ReadonlyMap<string, string>
  /** Absent where it could not look. */
  readonly judged?: { readonly sentences: number; readonly doubted: number }
  /** Why it could not, as the middle of a sentence. */
  readonly skipped?: string
}

/** Tokens of evidence a judge is shown at the most, and at the least. */
const MOST_EVIDENCE = 8_000
const LEAST_EVIDENCE = 50
/** Sentences of one answer it is asked about; the rest stands. */
const MOST_SENTENCES = 100

/**
 * Asks the judge about the sentences that are quoted or supported: it may doubt them and nothing else. It is reserved and
 * counted like every call; where it fails, or where no budget is left, the answer stands as it is.
 */
export async function judgeAnswer(
  call: StageCall,
  shown: readonly Shown[],
  said: readonly SaidSentence[],
): Promise<Judgement | undefined> {
  const { judge } = call.world.settings.research
  const sentences = said.filter(({ status }) => status !== 'unsupported').slice(0, MOST_SENTENCES)
  if (judge === undefined || sentences.length === 0) return undefined
  const { provider, model, max_tokens, params } = judge
  const fixed = Math.ceil((JUDGE_SYSTEM.length + judgePrompt([], sentences).length) / 4)
  // Half of what is left, so that it can be asked once more.
  const room = Math.floor(tokensLeft(call) / 2) - fixed - max_tokens
  const evidence = evidenceForPrompt(shown, Math.min(MOST_EVIDENCE, Math.max(LEAST_EVIDENCE, room)))
  const asked = await askModel(call, {
    system: JUDGE_SYSTEM,
    prompt: judgePrompt(evidence, sentences),
    inputs: { sentences: sentences.map(({ sentence }): Json => sentence) },
    output_schema: OUTPUT,
    answer_tokens: max_tokens,
    keep: 0,
    by: { provider, model, params, name: 'judge' },
    read: (text) => readingOf(readDoubts(text, sentences.length)),
  })
  if (asked.kind !== 'answered') return { doubts: new Map(), skipped: `the judge did not look at it: ${asked.why}` }
  const doubts = [...asked.value].flatMap(([nth, why]): [string, string][] => {
    const sentence = sentences[nth - 1]?.sentence
    return sentence === undefined ? [] : [[sentence, `the judge doubts it: ${why}`]]
  })
  return { doubts: new Map(doubts), judged: { sentences: sentences.length, doubted: doubts.length } }
}

const OUTPUT = {
  doubts: { type: 'json', required: true, description: 'the sentences it doubts' },
} as const
