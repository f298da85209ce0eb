import type { Json } from '../../shared/canonical.ts'
import type { PortType } from '../../shared/dag/dag.ts'
import { usage } from './refused.ts'
import { typedValue } from './typed-value.ts'

/** `--edit port=value` as the decision takes it: values of the type the block declares; exit code 2 for what cannot be meant. */
export function readEdits(
  pairs: readonly string[],
  types: Readonly<Record<string, { readonly type: string }>>,
): Readonly<Record<string, Json>> {
  const edits: Record<string, Json> = {}
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const port = pair.slice(0, Math.max(equals, 0))
    if (port === '') throw usage(`Cannot read --edit "${pair}": port=value is needed.`)
    if (Object.hasOwn(edits, port)) throw usage(`Cannot use --edit "${port}" twice: give it once.`)
    const type = Object.hasOwn(types, port) ? types[port]?.type : undefined
    // The server knows which ports there are, and says so.
    edits[port] = typedValue('--edit', port, pair.slice(equals + 1), (type ?? 'string') as PortType)
  }
  return edits
}
