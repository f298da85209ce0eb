import type { Json } from '../../../shared/text/json.ts'
import { type BlockHandler, type HandlerCall, handlerFault, isolateOf, readConfig } from './block-handler.ts'

/**
 * JSONata over `{inputs}`, run inputs among them, through the Isolate port. A single output takes the whole answer, several take the members
 * of the same name. Fault InvalidInput transform_failed when the program fails, runs over time or memory, or answers
 * no object for several outputs.
 */
export const transform: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { expression } = readConfig('transform', call)
    const answer = await isolateOf(call).run('transform', { program: expression, input: { inputs: call.values } })
    call.signal.throwIfAborted()
    if (!answer.ok) throw failed(call, `its expression stopped (${answer.because}): ${answer.message}`)
    return portsOf(call, answer.value)
  },
}

function portsOf(call: HandlerCall, value: Json): Record<string, Json> {
  const ports = Object.keys(call.outputs)
  const [only] = ports
  if (only === undefined) return {}
  if (ports.length === 1) return { [only]: value }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const seen = Array.isArray(value) ? 'a list' : value === null ? 'nothing' : `a ${typeof value}`
    throw failed(
      call,
      `its expression answers ${seen}, but it has outputs ${ports.join(', ')}: answer an object of them`,
    )
  }
  return Object.fromEntries(Object.entries(value).filter(([port]) => Object.hasOwn(call.outputs, port)))
}

function failed(call: HandlerCall, what: string): Error {
  return handlerFault(
    call,
    'transform',
    'transform_failed',
    `${what}. Mend deterministic.config.expression (JSONata 2.0 over {inputs}).`,
  )
}

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
