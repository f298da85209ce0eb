import type { Json } from '../../../shared/canonical.ts'
import type { BlockHandler } from './handler.ts'

/** Each output is the input of the same name; an output without one is left out. */
export const pass: BlockHandler = {
  async run({ inputs, outputs }) {
    const values: Record<string, Json> = {}
    for (const port of Object.keys(outputs)) {
      const value = Object.hasOwn(inputs, port) ? inputs[port] : undefined
      if (value !== undefined) values[port] = value
    }
    return values
  },
}
