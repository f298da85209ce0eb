import { Fault } from '../../shared/errors.ts'
import { textProblem } from '../../shared/json-problem.ts'

/** An answer, or a request, that the adapter cannot work with; the same would come again. */
export function invalidAnswer(provider: string, message: string): Fault {
  return new Fault('InvalidInput', 'provider_invalid', message, { facts: { provider } })
}

/** A text that must be a JSON object. */
export function readObject(provider: string, text: string): Readonly<Record<string, unknown>> {
  const problem = textProblem(text)
  if (problem !== undefined) {
    throw invalidAnswer(
      provider,
      `Cannot use the answer of provider "${provider}": it is not read, since ${problem.text}.`,
    )
  }
  const value = parsed(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  const seen = text.trim() === '' ? 'nothing' : JSON.stringify(text.slice(0, 80).toWellFormed())
  throw invalidAnswer(
    provider,
    `Cannot use the answer of provider "${provider}": it is ${seen}, no JSON object. Is its url the one of the API?`,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
