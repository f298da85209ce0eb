import type { AskingStage } from './extractive-model.ts'

/** Tokens of a small answer in JSON: a route, an assessment. */
const SMALL_ANSWER = 256
/** Tokens of instructions, question and frame around the evidence of an answer, and of a little evidence. */
const LEAST_PROMPT = 500
/** With less there is nothing to judge or to answer from. */
const LEAST_ROOM = 50
/** Part of what may be spent before the answer that one call may take; what is left is for the calls after it. */
const SHARES: Readonly<Record<AskingStage, number>> = {
  route_search: 0.4,
  assess_sufficiency: 0.35,
  synthesize_answer: 1,
}
/** More evidence in one prompt does not make the answer better. */
const MOST_ROOM = 8_000

interface Budget {
  /** Of the whole chain. */
  readonly cap: number
  /** Of it, for this call and those after it. */
  readonly left: number
  /** Of one answer at the most (settings). */
  readonly max_tokens: number
}

/** How a budget is divided among the calls of a chain, in tokens; `data`: what is retrieved may take of a prompt. */
export interface PromptRoom {
  readonly answer_tokens: number
  readonly keep: number
  readonly data: number
}

/**
 * The room of one stage's call: instructions and question (`fixed`) and its answer at the longest first, the answer of
 * the chain kept back, and of the rest a share. The answer itself takes half of what is left where that is enough, so
 * that it can be asked for once more. Never less than a little: a call that then does not fit is not made.
 */
export function promptRoom(stage: AskingStage, fixed: number, { cap, left, max_tokens }: Budget): PromptRoom {
  const answer = Math.min(max_tokens, Math.max(SMALL_ANSWER, Math.floor(cap / 6)))
  if (stage === 'synthesize_answer') {
    const half = left / 2 - fixed - answer
    const data = half >= LEAST_PROMPT ? half : left - fixed - answer
    return { answer_tokens: answer, keep: 0, data: bounded(data) }
  }
  const answer_tokens = Math.min(max_tokens, SMALL_ANSWER)
  const keep = LEAST_PROMPT + answer
  return { answer_tokens, keep, data: bounded((left - keep - fixed - answer_tokens) * SHARES[stage]) }
}

function bounded(tokens: number): number {
  return Math.floor(Math.min(MOST_ROOM, Math.max(LEAST_ROOM, tokens)))
}
