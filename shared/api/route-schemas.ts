import { DAG_SCHEMAS } from './dag-schemas.ts'
import { GRAPH_ROUTES } from './graph-routes.ts'
import { OBJECT_ROUTES } from './object-routes.ts'
import { PLACE_ROUTES } from './place-routes.ts'
import { RESEARCH_ROUTES } from './research-routes.ts'
import type { RouteSchema } from './route-schema.ts'
import { TOKEN_ROUTES } from './token-routes.ts'
import { WEBHOOK_ROUTES } from './webhook-routes.ts'

/** The schemas of every route of the catalog, by name. */
export const ROUTE_SCHEMAS: Readonly<Record<string, RouteSchema>> = {
  ...PLACE_ROUTES,
  ...DAG_SCHEMAS,
  ...RESEARCH_ROUTES,
  ...GRAPH_ROUTES,
  ...OBJECT_ROUTES,
  ...WEBHOOK_ROUTES,
  ...TOKEN_ROUTES,
}
