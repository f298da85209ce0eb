import { Fault } from '../../shared/errors.ts'
import type { DispatchAnswer } from '../../shared/provider.ts'

/** A server that sends back what it was sent must not put the key into an output. */
export function answerWithout(key: string | undefined, answer: DispatchAnswer): DispatchAnswer {
  if (key === undefined) return answer
  const { text, model, finish_reason, id } = answer
  const said = { text: hidden(text, key), model: hidden(model, key), finish_reason: hidden(finish_reason, key) }
  return { ...answer, ...said, ...(id === undefined ? {} : { id: hidden(id, key) }) }
}

/** Nor into a message that quotes it; its cause is left out then. */
export function faultWithout(key: string | undefined, error: unknown): unknown {
  if (key === undefined || !(error instanceof Fault)) return error
  const message = hidden(error.message, key)
  if (message === error.message) return error
  return new Fault(error.name, error.code, message, { facts: error.facts, status: error.status })
}

/** A shorter key is a word that a text may hold by chance. */
const SHORTEST_KEY = 8

function hidden(text: string, key: string): string {
  if (key.length < SHORTEST_KEY) return text
  // As it is, and as JSON quotes it.
  return text.replaceAll(key, '[key]').replaceAll(JSON.stringify(key).slice(1, -1), '[key]')
}
