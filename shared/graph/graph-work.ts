import * as z from 'zod'
import { MAIN_TENANT } from '../principal.ts'

/** What index-graph is called for: bringing the search index up to the graph, or keeping what the graph holds from its expiry. */
export const GraphWorkSchema = z.strictObject({
  tenant: z.string().min(1).default(MAIN_TENANT),
  /** `after`: where an earlier call's time was over. */
  keep: z.strictObject({ after: z.string().min(1).optional() }).optional(),
})

export type GraphWork = z.output<typeof GraphWorkSchema>
