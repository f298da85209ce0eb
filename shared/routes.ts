import type { Scope } from './auth/scopes.ts'

/** One route of the API: infra/aws makes a method of it, infra/local matches requests by it, OpenAPI lists it. */
export interface RouteLine {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** API Gateway syntax: `{run_id}` one segment, `{name+}` the rest. */
  readonly path: string
  /** The function that answers. */
  readonly name: string
  /** What the caller's credential must allow; absent = to be somebody is enough. */
  readonly scope?: Scope
  /** Its body may have `max_batch_bytes`, where that is more than `max_body_bytes`. */
  readonly takes_batches?: true
  /** The answer is a stream (Server-Sent Events). */
  readonly stream?: true
  /**
   * Who calls proves it without a credential, and only the function can tell: Slack signs its requests, and such a route
   * stands only where Slack is configured; an address that this place gave out is signed itself;
   * senders of webhooks sign with a secret they share with their trigger.
   */
  readonly signed_by?: 'slack' | 'address' | 'sender'
}

const RUN = '/api/dag/runs/{run_id}'
const TRIGGER = '/api/triggers/{document}/{trigger}'

export const ROUTES: readonly RouteLine[] = [
  { method: 'GET', path: '/api/health', name: 'get-health' },
  { method: 'GET', path: '/api/config', name: 'get-config', scope: 'safety:read' },
  { method: 'GET', path: '/api/agents', name: 'get-agents', scope: 'runs:read' },
  { method: 'GET', path: '/api/gates', name: 'get-gates', scope: 'runs:read' },
  { method: 'GET', path: '/api/openapi.json', name: 'get-openapi' },
  { method: 'GET', path: '/api/dag/safety', name: 'get-safety', scope: 'safety:read' },
  { method: 'POST', path: '/api/dag/safety/release', name: 'release-starts', scope: 'admin:stop' },
  { method: 'GET', path: '/api/spending', name: 'get-spending', scope: 'safety:read' },
  { method: 'POST', path: '/api/spending/raise', name: 'raise-spending', scope: 'admin:spending' },
  { method: 'GET', path: '/api/dag/schema', name: 'get-dag-schema' },
  { method: 'GET', path: '/api/dag/documents/{name}', name: 'get-document', scope: 'runs:read' },
  { method: 'PATCH', path: '/api/dag/documents/{name}', name: 'change-document', scope: 'admin:stop' },
  { method: 'POST', path: '/api/dag/validate', name: 'validate-dag', scope: 'runs:read' },
  { method: 'POST', path: '/api/dag/plan', name: 'plan-dag', scope: 'runs:read' },
  { method: 'POST', path: '/api/dag/run', name: 'start-run', scope: 'runs:start' },
  { method: 'GET', path: '/api/dag/runs', name: 'list-runs', scope: 'runs:read' },
  { method: 'POST', path: '/api/dag/runs/stop-all', name: 'stop-all', scope: 'admin:stop' },
  { method: 'GET', path: '/api/dag/approvals', name: 'list-approvals', scope: 'runs:read' },
  { method: 'GET', path: '/api/dag/search', name: 'search-runs', scope: 'runs:read' },
  { method: 'GET', path: '/api/dag/count', name: 'count-runs', scope: 'runs:read' },
  { method: 'GET', path: '/api/dag/views', name: 'list-views', scope: 'runs:read' },
  { method: 'PUT', path: '/api/dag/views/{view}', name: 'put-view', scope: 'runs:start' },
  { method: 'DELETE', path: '/api/dag/views/{view}', name: 'delete-view', scope: 'runs:start' },
  { method: 'POST', path: '/api/dag/bulk', name: 'plan-bulk', scope: 'runs:read' },
  { method: 'GET', path: '/api/dag/bulk', name: 'list-bulks', scope: 'runs:read' },
  { method: 'GET', path: '/api/dag/bulk/{bulk_id}', name: 'get-bulk', scope: 'runs:read' },
  { method: 'POST', path: '/api/dag/bulk/{bulk_id}', name: 'change-bulk', scope: 'runs:read' },
  { method: 'GET', path: RUN, name: 'get-run', scope: 'runs:read' },
  { method: 'GET', path: `${RUN}/notes`, name: 'list-notes', scope: 'runs:read' },
  { method: 'POST', path: `${RUN}/notes`, name: 'add-note', scope: 'runs:start' },
  { method: 'DELETE', path: RUN, name: 'erase-run', scope: 'admin:erase' },
  { method: 'GET', path: `${RUN}/erasure`, name: 'get-erasure', scope: 'runs:read' },
  { method: 'PUT', path: `${RUN}/hold`, name: 'hold-run', scope: 'admin:hold' },
  { method: 'DELETE', path: `${RUN}/hold`, name: 'release-hold', scope: 'admin:hold' },
  { method: 'GET', path: `${RUN}/blocks/{block_id}`, name: 'get-block', scope: 'runs:read' },
  { method: 'GET', path: `${RUN}/blocks/{block_id}/transcript`, name: 'get-transcript', scope: 'runs:read' },
  { method: 'GET', path: `${RUN}/graph`, name: 'get-run-graph', scope: 'runs:read' },
  { method: 'GET', path: `${RUN}/replay`, name: 'replay-run', scope: 'runs:read' },
  { method: 'GET', path: `${RUN}/recording`, name: 'record-run', scope: 'runs:read' },
  { method: 'GET', path: `${RUN}/verify`, name: 'verify-run', scope: 'runs:read' },
  { method: 'GET', path: `${RUN}/diff/{other_id}`, name: 'diff-runs', scope: 'runs:read' },
  { method: 'GET', path: `${RUN}/events`, name: 'stream-events', scope: 'runs:read', stream: true },
  { method: 'GET', path: `${RUN}/outputs/{block_id}`, name: 'get-outputs', scope: 'runs:read' },
  { method: 'GET', path: `${RUN}/context`, name: 'get-context', scope: 'runs:read' },
  { method: 'PATCH', path: `${RUN}/context`, name: 'patch-context', scope: 'runs:author' },
  { method: 'GET', path: `${RUN}/artifacts`, name: 'list-artifacts', scope: 'runs:read' },
  { method: 'GET', path: `${RUN}/artifacts/{name+}`, name: 'get-artifact', scope: 'runs:read' },
  { method: 'POST', path: `${RUN}/approvals`, name: 'decide-approval', scope: 'approvals:decide' },
  { method: 'POST', path: `${RUN}/stop`, name: 'stop-run', scope: 'runs:start' },
  { method: 'POST', path: `${RUN}/pause`, name: 'pause-run', scope: 'runs:start' },
  { method: 'POST', path: `${RUN}/resume`, name: 'resume-run', scope: 'runs:start' },
  { method: 'POST', path: `${RUN}/retry`, name: 'retry-run', scope: 'runs:start' },
  { method: 'GET', path: `${RUN}/goal`, name: 'get-goal', scope: 'runs:read' },
  { method: 'POST', path: `${RUN}/pivot`, name: 'pivot-run', scope: 'runs:start' },
  { method: 'POST', path: '/api/research', name: 'start-research', scope: 'runs:start' },
  { method: 'GET', path: '/api/research/{run_id}', name: 'get-research', scope: 'runs:read' },
  { method: 'PUT', path: '/api/graph/entities', name: 'put-entities', scope: 'runs:write', takes_batches: true },
  { method: 'DELETE', path: '/api/graph/entities', name: 'delete-entities', scope: 'runs:write' },
  { method: 'GET', path: '/api/graph/entities/{entity_id}', name: 'get-entity', scope: 'runs:read' },
  { method: 'DELETE', path: '/api/graph/entities/{entity_id}', name: 'delete-entity', scope: 'runs:write' },
  { method: 'GET', path: '/api/graph/entities/{entity_id}/neighbors', name: 'get-neighbors', scope: 'runs:read' },
  { method: 'PUT', path: '/api/graph/triples', name: 'put-triples', scope: 'runs:write', takes_batches: true },
  { method: 'GET', path: '/api/graph/search', name: 'search-graph', scope: 'runs:read' },
  { method: 'PUT', path: '/api/objects', name: 'put-object', scope: 'runs:write' },
  { method: 'POST', path: '/api/objects/upload', name: 'upload-object', scope: 'runs:write' },
  { method: 'GET', path: '/api/objects/{sha256}', name: 'get-object', scope: 'runs:read' },
  { method: 'GET', path: '/api/webhooks', name: 'list-webhooks', scope: 'safety:read' },
  { method: 'POST', path: '/api/webhooks/test', name: 'test-webhook', scope: 'runs:write' },
  { method: 'GET', path: '/api/webhooks/dead', name: 'list-dead-webhooks', scope: 'runs:read' },
  { method: 'POST', path: '/api/webhooks/replay', name: 'replay-webhook', scope: 'runs:write' },
  { method: 'POST', path: '/api/events', name: 'send-event', scope: 'events:send' },
  { method: 'POST', path: '/api/callbacks/{token}', name: 'answer-callback', signed_by: 'address' },
  { method: 'GET', path: '/api/triggers', name: 'list-triggers', scope: 'runs:read' },
  { method: 'GET', path: TRIGGER, name: 'get-trigger', scope: 'runs:read' },
  { method: 'PATCH', path: TRIGGER, name: 'change-trigger', scope: 'admin:stop' },
  { method: 'POST', path: `${TRIGGER}/fire`, name: 'fire-trigger', scope: 'runs:start' },
  { method: 'POST', path: `${TRIGGER}/try`, name: 'try-trigger', scope: 'runs:read' },
  { method: 'POST', path: '/api/hooks/{document}/{trigger}', name: 'take-webhook', signed_by: 'sender' },
  { method: 'GET', path: '/api/stage/export', name: 'export-stage', scope: 'stage:export' },
  { method: 'POST', path: '/api/stage/import', name: 'import-stage', scope: 'stage:import' },
  { method: 'GET', path: '/api/tokens', name: 'list-tokens', scope: 'admin:tokens' },
  { method: 'POST', path: '/api/tokens', name: 'create-token', scope: 'admin:tokens' },
  { method: 'DELETE', path: '/api/tokens/{token_id}', name: 'revoke-token', scope: 'admin:tokens' },
  { method: 'POST', path: '/api/slack/interactions', name: 'slack-interactions', signed_by: 'slack' },
]
