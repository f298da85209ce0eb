import * as z from 'zod'
import type { PayloadKind } from './decode-payload.ts'
import { ROUTE_ACTIONS } from './route-action.ts'

/** What route_search emits (docs/research.md, "RouteDecision"). */
export const RouteDecisionSchema = z.object({
  action: z.enum(ROUTE_ACTIONS),
  /** By action, read by route-args.ts. */
  args: z.record(z.string(), z.unknown()).optional(),
  /** Prose; no rule or condition looks at it. */
  rationale: z.string().optional(),
})

export type RouteDecision = z.infer<typeof RouteDecisionSchema>

/** The closed list of actions is all there is to check, and decoding does: args are for who uses them. */
export const routeDecisionKind: PayloadKind<RouteDecision> = {
  schema: RouteDecisionSchema,
  validate: () => [],
}
