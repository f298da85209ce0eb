import * as z from 'zod'
import { QUERY_LIMITS } from '../search-runs/query.ts'
import type { RouteSchema } from './route-schema.ts'

const text = z.string()
const NameSchema = text.regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  'a name of 1 to 64 letters, digits, ., _ or -, that begins with a letter or a digit',
)
const params = z.strictObject({ view: NameSchema })
const ViewSchema = z.strictObject({
  name: text,
  q: text,
  by: text.describe('Who wrote it last'),
  at: text,
})

/** Searches with names (docs/runs.md, "Views"). */
export const VIEW_ROUTES = {
  'list-views': {
    summary: 'Searches that were given a name, in the order of their names',
    answer: z.strictObject({ views: z.array(ViewSchema) }),
  },
  'put-view': {
    summary: 'Give a search a name, change it, or give it another name',
    params,
    body: z
      .strictObject({
        q: text.max(QUERY_LIMITS.characters).optional().describe('The search; absent: as it is'),
        name: NameSchema.optional().describe('Its name from now on'),
      })
      .refine(({ q, name }) => q !== undefined || name !== undefined, 'give q, name or both'),
    answer: ViewSchema,
  },
  'delete-view': {
    summary: 'Take the name of a search away: no run changes',
    params,
    answer: z.strictObject({ name: text }),
  },
} as const satisfies Record<string, RouteSchema>
