import jsonata from 'jsonata'
import { textProblem } from '../../shared/json-problem.ts'
import { freezeBuiltins } from './freeze-builtins.ts'
import type { Job } from './isolate-messages.ts'

// Once, before the first program: children are reused.
await freezeBuiltins()

/** Characters of JSON an answer may have; the caller has to parse it on its own event loop. */
const MAX_ANSWER = 10_485_760

/** Evaluates a JSONata expression against the bindings; JSON text of the answer. Level 2.0.6 without $eval, clock and chance. */
export async function transform({ program, input }: Job): Promise<string> {
  if (typeof program !== 'string') throw new Error('a transform is the text of a JSONata expression')
  const expression = jsonata(program)
  for (const [name, why] of REFUSED) {
    expression.registerFunction(name, () => {
      throw new Error(`$${name} is not available: ${why}`)
    })
  }
  const value: unknown = await expression.evaluate(input)
  if (value === undefined) throw new Error('the expression has no value: nothing matched')
  const text = JSON.stringify(value, onlyJson)
  if (text.length > MAX_ANSWER) {
    throw new Error(`the answer has ${text.length} characters of JSON, at most ${MAX_ANSWER} are allowed`)
  }
  const problem = textProblem(text, 1)
  if (problem !== undefined) throw new Error(`the answer is not taken, since ${problem.text}`)
  return text
}

const ONCE = 'a transform answers the same for the same inputs; hand the value in as an input'
const REFUSED: readonly (readonly [string, string])[] = [
  ['eval', 'it is not in Step Functions either'],
  ['now', ONCE],
  ['millis', ONCE],
  ['random', ONCE],
  ['shuffle', ONCE],
]

/** JSON.stringify would drop functions, print JSONata's insides and turn Infinity into null. */
function onlyJson(_key: string, value: unknown): unknown {
  if (typeof value === 'function') throw new Error('the answer holds a function')
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Error(`the answer holds ${value}, which is not JSON`)
  if (typeof value !== 'object' || value === null) return value
  if (Object.hasOwn(value, '_jsonata_lambda') || Object.hasOwn(value, '_jsonata_function')) {
    throw new Error('the answer holds a function')
  }
  return value
}
