import { PLAN_ROUTES } from '../../../shared/api/plan-routes.ts'
import { VALIDATE_DAG } from '../../../shared/api/validate-dag.ts'
import { callApi } from '../api.ts'
import { present } from './present.ts'
import { type Tool, tool } from './tool.ts'

const PLAN = PLAN_ROUTES['plan-dag']

/** Tools about documents; they start nothing. */
export const DOCUMENT_TOOLS: readonly Tool[] = [
  tool({
    name: 'validate_dag',
    title: 'Check a DAG document',
    description:
      'Checks a DAG document (YAML text or an object): every error with its place and what to do, or its order.',
    input: VALIDATE_DAG.body,
    output: VALIDATE_DAG.answer.loose(),
    reads: true,
    run: ({ dag }, { target, signal }) =>
      callApi(target, VALIDATE_DAG.answer.loose(), (api) => api.POST('/api/dag/validate', { body: { dag }, signal })),
  }),
  tool({
    name: 'plan_dag',
    title: 'Plan a DAG document',
    description:
      'What runs of a DAG document will do, take and cost: critical path, time, transitions, cost estimates.',
    input: PLAN.body,
    output: PLAN.answer.loose(),
    reads: true,
    run: (body, { target, signal }) =>
      callApi(target, PLAN.answer.loose(), (api) => api.POST('/api/dag/plan', { body: present(body), signal })),
  }),
]
