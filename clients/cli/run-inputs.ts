import type { Json } from '../../shared/canonical.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { suggest } from '../../shared/dag/suggest.ts'
import { plainText } from './plain-text.ts'
import { usage } from './refused.ts'
import { typedValue } from './typed-value.ts'

interface Given {
  /** `k=v`, as typed. */
  readonly pairs: readonly string[]
  /** Free values of --context-json. */
  readonly context: Readonly<Record<string, Json>>
  /** Run inputs of the document; undefined where only the server has it. */
  readonly declared?: Dag['inputs']
}

/**
 * Sorts what a person gave: a value of a declared run input becomes an input of its type, everything else is free
 * context (decisions, "sluice.yaml, folders, CLI target"). Exit code 2 for pairs that cannot be meant.
 */
export function runInputs({ pairs, context, declared = {} }: Given) {
  const inputs: Record<string, Json> = {}
  const free: Record<string, Json> = { ...context }
  for (const [key, value] of readPairs(pairs)) {
    const input = Object.hasOwn(declared, key) ? declared[key] : undefined
    if (input?.declared === true) inputs[key] = typedValue('--input', key, value, input.type ?? 'string')
    else free[key] = value
  }
  return {
    ...(Object.keys(inputs).length > 0 && { inputs }),
    ...(Object.keys(free).length > 0 && { context: free }),
  }
}

/** Names that become free context and are probably typing errors of names this DAG reads. */
export function doubtfulInputs(pairs: readonly string[], { inputs, blocks }: Dag): readonly string[] {
  const ports = blocks.flatMap((block) => Object.entries(block.inputs).filter(([, { from }]) => from === undefined))
  const reads = new Set([...Object.keys(inputs), ...ports.map(([port]) => port)])
  const given = readPairs(pairs)
  const open = [...reads].filter((name) => !given.has(name))
  return [...given.keys()].flatMap((key) => {
    const near = reads.has(key) ? undefined : suggest(key, open)
    if (near === undefined) return []
    const words = `warning: --input ${key} is no input of this DAG and becomes free context. Did you mean "${near}"?`
    return [plainText(words)]
  })
}

function readPairs(pairs: readonly string[]): ReadonlyMap<string, string> {
  const read = new Map<string, string>()
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const key = pair.slice(0, equals)
    if (equals < 1) throw usage(`Cannot read --input "${pair}": key=value is needed.`)
    if (/^_|\s/.test(key))
      throw usage(`Cannot use --input "${key}": a key has no spaces and no leading "_", which is reserved.`)
    if (read.has(key)) throw usage(`Cannot use --input "${key}" twice: give it once.`)
    read.set(key, pair.slice(equals + 1))
  }
  return read
}
