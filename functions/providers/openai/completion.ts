import { invalidAnswer } from '../invalid-answer.ts'
import type { Usage } from '../measured.ts'

/** What a completion says, however it came. */
export interface Completion {
  readonly text: string
  /** The model's own refusal, or the filter's. */
  readonly refusal?: string
  readonly finish_reason?: string
  readonly model?: string
  readonly id?: string
  readonly usage: Usage
}

/** What was gathered, before it is judged. */
export interface Gathered {
  /** A choice was there. */
  answered: boolean
  text: string
  refusal: string
  tools: boolean
  finish_reason: string | undefined
  model: string | undefined
  id: string | undefined
  usage: Usage
}

/** Judged the same whether it came whole or in pieces. Fault InvalidInput provider_invalid. */
export function completionOf({ name }: { readonly name: string }, gathered: Gathered): Completion {
  const { answered, text, refusal, tools, finish_reason, model, id, usage } = gathered
  if (!answered) throw noUse(name, 'it has no choices. Is its url the one of a chat completions API?')
  const filtered = finish_reason === 'content_filter' ? 'its content filter stopped the answer' : undefined
  const reason = refusal === '' ? filtered : refusal
  if (text === '' && tools && reason === undefined) {
    throw noUse(
      name,
      'it calls a tool, and none was offered. Say in the prompt that the answer is text, or use another model.',
    )
  }
  return {
    text,
    ...(reason === undefined ? {} : { refusal: reason }),
    ...(finish_reason === undefined ? {} : { finish_reason }),
    ...(model === undefined ? {} : { model }),
    ...(id === undefined ? {} : { id }),
    usage,
  }
}

function noUse(name: string, why: string) {
  return invalidAnswer(name, `Cannot use the answer of provider "${name}": ${why}`)
}
