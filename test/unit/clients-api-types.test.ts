import { expect, test } from 'vitest'
import type { Ask } from '../../clients/cli/server/api.ts'

/**
 * The type checker is the test here: each line marked below must be an error, or `tsc` fails on the mark itself. A
 * client that asks what the API does not have cannot be written.
 */
const params = { path: { run_id: 'run_0' } }

const has: readonly Ask[] = [
  (api) => api.GET('/api/dag/runs/{run_id}', { params }),
  (api) => api.GET('/api/dag/runs', { params: { query: { status: 'paused_approval', limit: 5 } } }),
  (api) => api.POST('/api/dag/runs/{run_id}/stop', { params, body: { reason: 'enough' } }),
]

const hasNot: readonly Ask[] = [
  // @ts-expect-error There is no such path.
  (api) => api.GET('/api/dag/walks/{run_id}', { params }),
  // @ts-expect-error A run is not deleted.
  (api) => api.DELETE('/api/dag/runs/{run_id}', { params }),
  // @ts-expect-error The run must be named.
  (api) => api.GET('/api/dag/runs/{run_id}'),
  // @ts-expect-error Its parameter has another name.
  (api) => api.GET('/api/dag/runs/{run_id}', { params: { path: { id: 'run_0' } } }),
  // @ts-expect-error No run is ever in this state.
  (api) => api.GET('/api/dag/runs', { params: { query: { status: 'walking' } } }),
  // @ts-expect-error The number of runs is a number.
  (api) => api.GET('/api/dag/runs', { params: { query: { limit: 'many' } } }),
  // @ts-expect-error A reason is text.
  (api) => api.POST('/api/dag/runs/{run_id}/stop', { params, body: { reason: 7 } }),
  // @ts-expect-error A decision is one of three.
  (api) => api.POST('/api/dag/runs/{run_id}/approvals', { params, body: { decision: 'perhaps' } }),
  // @ts-expect-error A question has a topic.
  (api) => api.POST('/api/research', { body: { budget_tokens: 10 } }),
]

test('the typed client knows what the API has, and refuses the rest before anything is sent', () => {
  expect([has.length, hasNot.length]).toEqual([3, 9])
})
