import jsonata from 'jsonata'
import { ProgramProblem } from '../../shared/errors.ts'
import type { Job } from './isolate-messages.ts'
import { answerText } from './transform-answer.ts'

/**
 * JSONata's own functions are objects that every expression of a process shares, and its transform operator changes
 * whatever object its pattern answers: `$ ~> |$sum|{..}|` would change $sum for the programs that follow. Frozen, with
 * the one object all frames share, they stay as they are.
 */
async function freezeBuiltins(): Promise<void> {
  for (const name of BUILTINS.split(' ')) {
    const builtin = (await jsonata(`$${name}`).evaluate({})) as object
    for (const part of Object.values(builtin)) Object.freeze(part)
    for (const note of ['token', 'position']) keepWritable(builtin, note)
    Object.freeze(builtin)
  }
  const { environment } = (await jsonata('function() { 1 }').evaluate({})) as Lambda
  Object.freeze(environment.global)
  Object.freeze(environment.global.ancestry)
}

/** At each call JSONata notes there where the call stands, for its errors: an accessor stays writable in a frozen object. */
function keepWritable(builtin: object, name: string): void {
  let noted: unknown
  Object.defineProperty(builtin, name, {
    get: () => noted,
    set: (value: unknown) => {
      noted = value
    },
  })
}

/** The part of JSONata's lambda object that leads to what all frames share. */
interface Lambda {
  readonly environment: { readonly global: { readonly ancestry: readonly unknown[] } }
}

/** Every function JSONata 2.0.6 has (a test compares with its source). */
export const BUILTINS: string =
  'sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad match contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round abs sqrt power random boolean not map zip filter single reduce sift keys lookup append exists spread merge reverse each error assert type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl decodeUrlComponent decodeUrl eval toMillis fromMillis clone'

// Once, before the first program: children are reused.
await freezeBuiltins()

/** Evaluates a JSONata expression against the bindings; JSON text of the answer. Level 2.0.6 without $eval, clock and chance. */
export async function runTransformJob({ program, input }: Job): Promise<string> {
  if (typeof program !== 'string') throw new ProgramProblem('a transform is the text of a JSONata expression')
  const expression = jsonata(program)
  for (const [name, why] of REFUSED) {
    expression.registerFunction(name, () => {
      throw new ProgramProblem(`$${name} is not available: ${why}`)
    })
  }
  return answerText(await expression.evaluate(input))
}

const ONCE = 'a transform answers the same for the same inputs; hand the value in as an input'
const REFUSED: readonly (readonly [string, string])[] = [
  ['eval', 'it is not in Step Functions either'],
  ['now', ONCE],
  ['millis', ONCE],
  ['random', ONCE],
  ['shuffle', ONCE],
]
