import * as z from 'zod'
import { gateOf, gateTypes } from './registry.ts'

export interface GateDescription {
  readonly type: string
  readonly summary: string
  /** JSON Schema (draft 2020-12) of the parameters as a document writes them, without `type`. */
  readonly params: Readonly<Record<string, unknown>>
}

/** What GET /api/gates, `sluice gates list` and editors show: generated from the registry, nothing written twice. */
export function describeGates(): readonly GateDescription[] {
  return gateTypes().flatMap((type) => {
    const gate = gateOf(type)
    if (gate === undefined) return []
    return [{ type, summary: gate.summary, params: z.toJSONSchema(gate.params, { io: 'input' }) }]
  })
}
