import type { Json } from '../../../shared/canonical.ts'
import type { HandlerCall } from './handler.ts'
import { refuse } from './refuse.ts'

/** The input a handler works on: the one of its own name, else the only one there is. */
export function pickInput(call: HandlerCall, handler: string, name: string): Json {
  const own = Object.hasOwn(call.inputs, name) ? call.inputs[name] : undefined
  const all = Object.values(call.inputs)
  const value = own ?? (all.length === 1 ? all[0] : undefined)
  if (value !== undefined && value !== null) return value
  const ports = Object.keys(call.inputs)
    .map((port) => `"${port}"`)
    .join(', ')
  const seen = ports === '' ? 'it has no input with a value' : `none of its inputs ${ports} is "${name}"`
  throw refuse(call, handler, 'input_missing', `${seen}. Wire the value into an input named "${name}".`)
}
