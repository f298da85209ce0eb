import * as z from 'zod'
import type { GateExample } from './gate.ts'
import { gateFamilies, gateOf } from './registry.ts'

export interface GateDescription {
  readonly type: string
  readonly family: string
  readonly summary: string
  /** JSON Schema (draft 2020-12) of the parameters as a document writes them, without `type`. */
  readonly params: Readonly<Record<string, unknown>>
  readonly examples: readonly GateExample[]
}

/** What GET /api/gates, `sluice gates list` and editors show: generated from the registry, nothing written twice. */
export function describeGates(): readonly GateDescription[] {
  return gateFamilies().flatMap(({ family, types }) =>
    types.flatMap((type) => {
      const gate = gateOf(type)
      if (gate === undefined) return []
      const { summary, params, examples } = gate
      return [{ type, family, summary, params: z.toJSONSchema(params, { io: 'input' }), examples }]
    }),
  )
}
