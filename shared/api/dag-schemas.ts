import { CONTROL_ROUTES } from './control-routes.ts'
import { GOAL_ROUTES } from './goal-routes.ts'
import { LINEAGE_ROUTES } from './lineage-routes.ts'
import { PLAN_ROUTES } from './plan-routes.ts'
import { RECORD_RUN } from './record-run.ts'
import { RUN_DATA_ROUTES } from './run-data-routes.ts'
import { RUN_ROUTES } from './run-routes.ts'
import { START_RUN } from './start-run.ts'
import { VALIDATE_DAG } from './validate-dag.ts'
import { VERIFY_RUN } from './verify-run.ts'

/** The schemas of the routes of documents and runs. */
export const DAG_SCHEMAS = {
  'start-run': START_RUN,
  'validate-dag': VALIDATE_DAG,
  ...PLAN_ROUTES,
  ...RUN_ROUTES,
  'verify-run': VERIFY_RUN,
  'record-run': RECORD_RUN,
  ...RUN_DATA_ROUTES,
  ...CONTROL_ROUTES,
  ...LINEAGE_ROUTES,
  ...GOAL_ROUTES,
} as const
