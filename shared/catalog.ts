/**
 * Every function and every route, as data: infra/aws makes a Lambda and a role of each line, infra/local serves the
 * same lines from one process. Files are relative to functions/. `placeholder` stands for the function in machine text.
 */
export interface FunctionLine {
  readonly name: string
  readonly file: string
  /**
   * World members the function uses: its generated AWS entry is built with exactly these. `secrets` stands beside the
   * World: the adapters of `providers` read their keys through it, so who dispatches lists it.
   */
  readonly ports: readonly string[]
  /** Only functions a machine calls have one: `${RunBlock}` in the definition. */
  readonly placeholder?: string
  /** The World member that is a call of this function, made by other functions, which wait for its answer. */
  readonly serves?: 'http' | 'shell'
}

export interface RouteLine {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** API Gateway syntax: `{run_id}` one segment, `{name+}` the rest. */
  readonly path: string
  /** The function that answers. */
  readonly name: string
  /** The answer is a stream (Server-Sent Events). */
  readonly stream?: true
  /** The caller signs its requests itself, and only the function can tell: it stands only where Slack is configured. */
  readonly signed_by?: 'slack'
}

export const FUNCTIONS: readonly FunctionLine[] = [
  {
    name: 'run-block',
    file: 'blocks/run-block.ts',
    placeholder: 'RunBlock',
    ports: [
      'runs',
      'objects',
      'machine',
      'outbox',
      'providers',
      'secrets',
      'inputs',
      'isolate',
      'http',
      'shell',
      'waker',
    ],
  },
  { name: 'wait-join', file: 'blocks/wait-join.ts', placeholder: 'WaitJoin', ports: ['runs', 'machine'] },
  {
    name: 'request-approval',
    file: 'approvals/request-approval.ts',
    placeholder: 'RequestApproval',
    ports: ['runs', 'objects', 'machine', 'outbox', 'providers', 'secrets', 'isolate', 'http', 'shell', 'waker'],
  },
  {
    name: 'open-child',
    file: 'runs/open-child.ts',
    placeholder: 'OpenChild',
    ports: [
      'runs',
      'objects',
      'machine',
      'outbox',
      'providers',
      'secrets',
      'isolate',
      'http',
      'shell',
      'waker',
      'documents',
    ],
  },
  {
    name: 'close-module',
    file: 'runs/close-module.ts',
    placeholder: 'CloseModule',
    ports: ['runs', 'objects', 'machine'],
  },
  { name: 'settle', file: 'runs/settle.ts', placeholder: 'Settle', ports: ['runs', 'objects', 'outbox'] },
  {
    name: 'decide-completion',
    file: 'goals/decide-completion.ts',
    placeholder: 'DecideCompletion',
    ports: ['runs', 'objects'],
  },
  {
    name: 'nl-classify',
    file: 'research/nl-classify.ts',
    placeholder: 'NlClassify',
    ports: ['runs', 'objects', 'graph', 'search', 'machine', 'providers', 'secrets', 'waker'],
  },
  {
    name: 'route-search',
    file: 'research/route-search.ts',
    placeholder: 'RouteSearch',
    ports: ['runs', 'objects', 'machine', 'providers', 'secrets', 'waker'],
  },
  {
    name: 'execute-subqueries',
    file: 'research/execute-subqueries.ts',
    placeholder: 'ExecuteSubqueries',
    ports: ['runs', 'objects', 'graph', 'search', 'machine', 'providers', 'secrets', 'waker'],
  },
  {
    name: 'assess-sufficiency',
    file: 'research/assess-sufficiency.ts',
    placeholder: 'AssessSufficiency',
    ports: ['runs', 'objects', 'graph', 'machine', 'providers', 'secrets', 'waker'],
  },
  {
    name: 'synthesize-answer',
    file: 'research/synthesize-answer.ts',
    placeholder: 'SynthesizeAnswer',
    ports: ['runs', 'objects', 'graph', 'machine', 'providers', 'secrets', 'waker'],
  },
  {
    name: 'start-run',
    file: 'runs/start-run.ts',
    ports: ['runs', 'objects', 'graph', 'machine', 'outbox', 'providers', 'documents'],
  },
  {
    name: 'retry-run',
    file: 'runs/retry-run.ts',
    ports: ['runs', 'objects', 'machine', 'outbox', 'providers'],
  },
  { name: 'pivot-run', file: 'runs/pivot-run.ts', ports: ['runs', 'objects', 'outbox'] },
  {
    name: 'index-graph',
    file: 'graph/index-graph.ts',
    ports: ['runs', 'objects', 'graph', 'indexing', 'outbox'],
  },
  {
    name: 'send-outbox',
    file: 'runs/send-outbox.ts',
    ports: ['runs', 'objects', 'machine', 'outbox', 'http'],
  },
  { name: 'sweep', file: 'runs/sweep.ts', ports: ['runs', 'objects', 'machine', 'outbox'] },
  { name: 'reconcile', file: 'runs/reconcile.ts', ports: ['runs', 'objects', 'machine', 'outbox'] },
  {
    name: 'slack-interactions',
    file: 'slack/slack-interactions.ts',
    ports: ['runs', 'outbox', 'secrets', 'slack'],
  },
  {
    name: 'slack-work',
    file: 'slack/slack-work.ts',
    ports: ['runs', 'objects', 'outbox', 'secrets', 'slack'],
  },
  { name: 'net-gate', file: 'gates/net-gate.ts', ports: [], serves: 'http' },
  { name: 'shell-gate', file: 'gates/shell-gate.ts', ports: [], serves: 'shell' },
  { name: 'get-health', file: 'api/get-health.ts', ports: [] },
  { name: 'get-config', file: 'api/get-config.ts', ports: ['documents'] },
  { name: 'get-agents', file: 'api/get-agents.ts', ports: ['providers'] },
  { name: 'get-gates', file: 'api/get-gates.ts', ports: [] },
  { name: 'get-safety', file: 'api/get-safety.ts', ports: ['runs'] },
  { name: 'get-openapi', file: 'api/get-openapi.ts', ports: [] },
  { name: 'validate-dag', file: 'api/validate-dag.ts', ports: ['providers'] },
  { name: 'plan-dag', file: 'api/plan-dag.ts', ports: ['providers'] },
  { name: 'get-dag-schema', file: 'api/get-dag-schema.ts', ports: [] },
  { name: 'list-runs', file: 'api/list-runs.ts', ports: ['runs'] },
  { name: 'get-run', file: 'api/get-run.ts', ports: ['runs', 'objects'] },
  { name: 'get-run-graph', file: 'api/get-run-graph.ts', ports: ['runs', 'objects'] },
  { name: 'replay-run', file: 'api/replay-run.ts', ports: ['runs'] },
  { name: 'record-run', file: 'api/record-run.ts', ports: ['runs', 'objects'] },
  { name: 'diff-runs', file: 'api/diff-runs.ts', ports: ['runs', 'objects'] },
  { name: 'get-goal', file: 'api/get-goal.ts', ports: ['runs', 'objects'] },
  { name: 'verify-run', file: 'api/verify-run.ts', ports: ['runs', 'objects', 'machine', 'isolate'] },
  { name: 'stream-events', file: 'api/stream-events.ts', ports: ['runs', 'waker'] },
  { name: 'get-outputs', file: 'api/get-outputs.ts', ports: ['runs', 'objects'] },
  { name: 'get-context', file: 'api/get-context.ts', ports: ['runs'] },
  { name: 'patch-context', file: 'api/patch-context.ts', ports: ['runs'] },
  { name: 'list-artifacts', file: 'api/list-artifacts.ts', ports: ['runs'] },
  { name: 'get-artifact', file: 'api/get-artifact.ts', ports: ['runs', 'objects'] },
  { name: 'list-approvals', file: 'api/list-approvals.ts', ports: ['runs', 'objects'] },
  { name: 'decide-approval', file: 'api/decide-approval.ts', ports: ['runs', 'objects', 'outbox'] },
  { name: 'stop-run', file: 'api/stop-run.ts', ports: ['runs', 'objects', 'outbox'] },
  { name: 'stop-all', file: 'api/stop-all.ts', ports: ['runs', 'outbox'] },
  {
    name: 'start-research',
    file: 'api/start-research.ts',
    ports: ['runs', 'objects', 'machine', 'outbox'],
  },
  { name: 'get-research', file: 'api/get-research.ts', ports: ['runs', 'objects', 'waker'] },
  { name: 'put-entities', file: 'graph/put-entities.ts', ports: ['runs', 'graph', 'outbox'] },
  { name: 'delete-entities', file: 'graph/delete-entities.ts', ports: ['runs', 'graph', 'outbox'] },
  { name: 'put-triples', file: 'graph/put-triples.ts', ports: ['runs', 'graph', 'outbox'] },
  { name: 'get-entity', file: 'graph/get-entity.ts', ports: ['graph'] },
  { name: 'delete-entity', file: 'graph/delete-entity.ts', ports: ['runs', 'graph', 'outbox'] },
  { name: 'get-neighbors', file: 'graph/get-neighbors.ts', ports: ['graph'] },
  { name: 'search-graph', file: 'graph/search-graph.ts', ports: ['search'] },
  { name: 'put-object', file: 'graph/put-object.ts', ports: ['runs', 'objects'] },
  { name: 'upload-object', file: 'graph/upload-object.ts', ports: ['runs', 'uploads'] },
  { name: 'get-object', file: 'graph/get-object.ts', ports: ['objects'] },
  { name: 'release-starts', file: 'api/release-starts.ts', ports: ['runs', 'outbox'] },
]

const RUN = '/api/dag/runs/{run_id}'

export const ROUTES: readonly RouteLine[] = [
  { method: 'GET', path: '/api/health', name: 'get-health' },
  { method: 'GET', path: '/api/config', name: 'get-config' },
  { method: 'GET', path: '/api/agents', name: 'get-agents' },
  { method: 'GET', path: '/api/gates', name: 'get-gates' },
  { method: 'GET', path: '/api/openapi.json', name: 'get-openapi' },
  { method: 'GET', path: '/api/dag/safety', name: 'get-safety' },
  { method: 'POST', path: '/api/dag/safety/release', name: 'release-starts' },
  { method: 'GET', path: '/api/dag/schema', name: 'get-dag-schema' },
  { method: 'POST', path: '/api/dag/validate', name: 'validate-dag' },
  { method: 'POST', path: '/api/dag/plan', name: 'plan-dag' },
  { method: 'POST', path: '/api/dag/run', name: 'start-run' },
  { method: 'GET', path: '/api/dag/runs', name: 'list-runs' },
  { method: 'POST', path: '/api/dag/runs/stop-all', name: 'stop-all' },
  { method: 'GET', path: '/api/dag/approvals', name: 'list-approvals' },
  { method: 'GET', path: RUN, name: 'get-run' },
  { method: 'GET', path: `${RUN}/graph`, name: 'get-run-graph' },
  { method: 'GET', path: `${RUN}/replay`, name: 'replay-run' },
  { method: 'GET', path: `${RUN}/recording`, name: 'record-run' },
  { method: 'GET', path: `${RUN}/verify`, name: 'verify-run' },
  { method: 'GET', path: `${RUN}/diff/{other_id}`, name: 'diff-runs' },
  { method: 'GET', path: `${RUN}/events`, name: 'stream-events', stream: true },
  { method: 'GET', path: `${RUN}/outputs/{block_id}`, name: 'get-outputs' },
  { method: 'GET', path: `${RUN}/context`, name: 'get-context' },
  { method: 'PATCH', path: `${RUN}/context`, name: 'patch-context' },
  { method: 'GET', path: `${RUN}/artifacts`, name: 'list-artifacts' },
  { method: 'GET', path: `${RUN}/artifacts/{name+}`, name: 'get-artifact' },
  { method: 'POST', path: `${RUN}/approvals`, name: 'decide-approval' },
  { method: 'POST', path: `${RUN}/stop`, name: 'stop-run' },
  { method: 'POST', path: `${RUN}/retry`, name: 'retry-run' },
  { method: 'GET', path: `${RUN}/goal`, name: 'get-goal' },
  { method: 'POST', path: `${RUN}/pivot`, name: 'pivot-run' },
  { method: 'POST', path: '/api/research', name: 'start-research' },
  { method: 'GET', path: '/api/research/{run_id}', name: 'get-research' },
  { method: 'PUT', path: '/api/graph/entities', name: 'put-entities' },
  { method: 'DELETE', path: '/api/graph/entities', name: 'delete-entities' },
  { method: 'GET', path: '/api/graph/entities/{entity_id}', name: 'get-entity' },
  { method: 'DELETE', path: '/api/graph/entities/{entity_id}', name: 'delete-entity' },
  { method: 'GET', path: '/api/graph/entities/{entity_id}/neighbors', name: 'get-neighbors' },
  { method: 'PUT', path: '/api/graph/triples', name: 'put-triples' },
  { method: 'GET', path: '/api/graph/search', name: 'search-graph' },
  { method: 'PUT', path: '/api/objects', name: 'put-object' },
  { method: 'POST', path: '/api/objects/upload', name: 'upload-object' },
  { method: 'GET', path: '/api/objects/{sha256}', name: 'get-object' },
  { method: 'POST', path: '/api/slack/interactions', name: 'slack-interactions', signed_by: 'slack' },
]
