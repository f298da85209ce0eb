import { ProgramProblem } from '../../shared/errors.ts'
import { jsonTextProblem } from '../../shared/text/strict-json.ts'

/** Characters of JSON an answer may have; the caller has to parse it on its own event loop. */
const MAX_ANSWER = 10_485_760

/** What an expression came to, as JSON text. Throws ProgramProblem where it is no JSON, or too much. */
export function answerText(value: unknown): string {
  if (value === undefined) throw new ProgramProblem('the expression has no value: nothing matched')
  const text = JSON.stringify(value, onlyJson)
  if (text.length > MAX_ANSWER) {
    throw new ProgramProblem(`the answer has ${text.length} characters of JSON, at most ${MAX_ANSWER} are allowed`)
  }
  const problem = jsonTextProblem(text, 1)
  if (problem !== undefined) throw new ProgramProblem(`the answer is not taken, since ${problem.text}`)
  return text
}

/** JSON.stringify would drop functions, print JSONata's insides and turn Infinity into null. */
function onlyJson(_key: string, value: unknown): unknown {
  if (typeof value === 'function') throw new ProgramProblem('the answer holds a function')
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new ProgramProblem(`the answer holds ${value}, which is not JSON`)
  if (typeof value !== 'object' || value === null) return value
  if (Object.hasOwn(value, '_jsonata_lambda') || Object.hasOwn(value, '_jsonata_function')) {
    throw new ProgramProblem('the answer holds a function')
  }
  return value
}
