/**
 * Every function, as data (routes: routes.ts): infra/aws makes a Lambda and a role of each line, infra/local serves the
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
  /** What of the World is a call of this function, made by other functions, which wait for its answer (`anchor`: outbox.writeAnchor; `step`: what whoever does the work of a step says of it). */
  readonly serves?: 'http' | 'shell' | 'anchor' | 'step'
  /** API Gateway, or the local server, asks it who calls: only where callers come with a bearer credential. */
  readonly guards?: 'api'
  /** A rule of EventBridge calls it: it stands only where the settings ask for one (`events`). */
  readonly called_by?: 'eventbridge'
}

/** Of whoever begins an attempt, or asks people about one: gates are judged then, which may ask models, services and commands. */
const BEGINNING = [
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
  'telemetry',
  'tokens',
] as const

export const FUNCTIONS: readonly FunctionLine[] = [
  {
    name: 'run-block',
    file: 'attempts/run-block.ts',
    placeholder: 'RunBlock',
    ports: [...BEGINNING, 'inputs', 'services', 'waits', 'steps', 'mcp', 'graph', 'search', 'live'],
  },
  {
    name: 'open-step',
    file: 'attempts/open-step.ts',
    placeholder: 'OpenStep',
    ports: [...BEGINNING, 'steps'],
  },
  {
    name: 'report-step',
    file: 'attempts/report-step.ts',
    serves: 'step',
    ports: ['runs', 'objects', 'machine', 'outbox', 'isolate'],
  },
  { name: 'wait-join', file: 'attempts/wait-join.ts', placeholder: 'WaitJoin', ports: ['runs', 'machine'] },
  {
    name: 'request-approval',
    file: 'approvals/request-approval.ts',
    placeholder: 'RequestApproval',
    ports: [...BEGINNING, 'waits'],
  },
  {
    name: 'open-child',
    file: 'attempts/open-child.ts',
    placeholder: 'OpenChild',
    ports: [...BEGINNING, 'waits', 'documents', 'steps', 'mcp', 'modules'],
  },
  {
    name: 'open-wait',
    file: 'attempts/open-wait.ts',
    placeholder: 'OpenWait',
    ports: [...BEGINNING, 'waits'],
  },
  {
    name: 'close-module',
    file: 'runs/close-module.ts',
    placeholder: 'CloseModule',
    ports: ['runs', 'objects', 'machine', 'outbox'],
  },
  {
    name: 'settle',
    file: 'runs/settle.ts',
    placeholder: 'Settle',
    ports: ['runs', 'objects', 'outbox', 'telemetry', 'steps'],
  },
  {
    name: 'decide-completion',
    file: 'goals/decide-completion.ts',
    placeholder: 'DecideCompletion',
    ports: ['runs', 'objects', 'outbox'],
  },
  {
    name: 'nl-classify',
    file: 'research/nl-classify.ts',
    placeholder: 'NlClassify',
    ports: ['runs', 'objects', 'graph', 'search', 'machine', 'outbox', 'providers', 'secrets', 'waker', 'telemetry'],
  },
  {
    name: 'route-search',
    file: 'research/route-search.ts',
    placeholder: 'RouteSearch',
    ports: ['runs', 'objects', 'machine', 'outbox', 'providers', 'secrets', 'waker', 'telemetry'],
  },
  {
    name: 'execute-subqueries',
    file: 'research/execute-subqueries.ts',
    placeholder: 'ExecuteSubqueries',
    ports: ['runs', 'objects', 'graph', 'search', 'machine', 'outbox', 'providers', 'secrets', 'waker', 'telemetry'],
  },
  {
    name: 'assess-sufficiency',
    file: 'research/assess-sufficiency.ts',
    placeholder: 'AssessSufficiency',
    ports: ['runs', 'objects', 'graph', 'machine', 'outbox', 'providers', 'secrets', 'waker', 'telemetry'],
  },
  {
    name: 'synthesize-answer',
    file: 'research/synthesize-answer.ts',
    placeholder: 'SynthesizeAnswer',
    ports: ['runs', 'objects', 'graph', 'machine', 'outbox', 'providers', 'secrets', 'waker', 'telemetry'],
  },
  {
    name: 'start-run',
    file: 'runs/start-run.ts',
    ports: [
      'runs',
      'objects',
      'graph',
      'machine',
      'outbox',
      'providers',
      'documents',
      'steps',
      'mcp',
      'modules',
      'isolate',
      'waker',
      'telemetry',
    ],
  },
  {
    name: 'retry-run',
    file: 'runs/retry-run.ts',
    ports: [
      'runs',
      'objects',
      'machine',
      'outbox',
      'providers',
      'isolate',
      'documents',
      'steps',
      'mcp',
      'modules',
      'telemetry',
    ],
  },
  { name: 'pivot-run', file: 'goals/pivot-run.ts', ports: ['runs', 'objects', 'outbox', 'telemetry', 'steps'] },
  {
    name: 'index-graph',
    file: 'graph/index-graph.ts',
    ports: ['runs', 'objects', 'graph', 'indexing', 'outbox'],
  },
  {
    name: 'send-outbox',
    file: 'runs/send-outbox.ts',
    ports: ['runs', 'objects', 'machine', 'outbox', 'http', 'waits', 'telemetry'],
  },
  {
    name: 'send-webhooks',
    file: 'notify/send-webhooks.ts',
    ports: ['runs', 'secrets', 'http', 'webhooks'],
  },
  {
    name: 'sweep',
    file: 'runs/sweep.ts',
    ports: ['runs', 'objects', 'machine', 'outbox', 'isolate', 'waits', 'telemetry'],
  },
  { name: 'reconcile', file: 'runs/reconcile.ts', ports: ['runs', 'objects', 'machine', 'outbox', 'telemetry'] },
  { name: 'clear-machines', file: 'runs/clear-machines.ts', ports: ['machine'] },
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
  { name: 'write-anchor', file: 'runs/write-anchor.ts', ports: ['anchors'], serves: 'anchor' },
  { name: 'get-health', file: 'api/get-health.ts', ports: ['health'] },
  { name: 'get-config', file: 'api/get-config.ts', ports: ['documents'] },
  { name: 'get-document', file: 'api/get-document.ts', ports: ['documents'] },
  { name: 'get-agents', file: 'api/get-agents.ts', ports: ['providers'] },
  { name: 'get-gates', file: 'api/get-gates.ts', ports: [] },
  { name: 'get-safety', file: 'api/get-safety.ts', ports: ['runs'] },
  { name: 'get-openapi', file: 'api/get-openapi.ts', ports: [] },
  { name: 'validate-dag', file: 'api/validate-dag.ts', ports: ['runs', 'providers', 'isolate', 'steps', 'modules'] },
  { name: 'plan-dag', file: 'api/plan-dag.ts', ports: ['runs', 'providers', 'isolate', 'steps', 'modules'] },
  { name: 'get-dag-schema', file: 'api/get-dag-schema.ts', ports: [] },
  { name: 'list-runs', file: 'api/list-runs.ts', ports: ['runs'] },
  { name: 'get-run', file: 'api/get-run.ts', ports: ['runs', 'objects'] },
  { name: 'get-block', file: 'api/get-block.ts', ports: ['runs', 'objects'] },
  { name: 'get-transcript', file: 'api/get-transcript.ts', ports: ['runs', 'objects'] },
  { name: 'get-run-graph', file: 'api/get-run-graph.ts', ports: ['runs', 'objects'] },
  { name: 'replay-run', file: 'api/replay-run.ts', ports: ['runs'] },
  { name: 'record-run', file: 'api/record-run.ts', ports: ['runs', 'objects'] },
  { name: 'diff-runs', file: 'api/diff-runs.ts', ports: ['runs', 'objects'] },
  { name: 'get-goal', file: 'api/get-goal.ts', ports: ['runs', 'objects'] },
  { name: 'verify-run', file: 'api/verify-run.ts', ports: ['runs', 'objects', 'machine', 'isolate', 'anchors'] },
  { name: 'stream-events', file: 'api/stream-events.ts', ports: ['runs', 'waker', 'live'] },
  { name: 'get-outputs', file: 'api/get-outputs.ts', ports: ['runs', 'objects'] },
  { name: 'get-context', file: 'api/get-context.ts', ports: ['runs'] },
  { name: 'patch-context', file: 'api/patch-context.ts', ports: ['runs', 'objects', 'outbox'] },
  { name: 'list-artifacts', file: 'api/list-artifacts.ts', ports: ['runs'] },
  { name: 'get-artifact', file: 'api/get-artifact.ts', ports: ['runs', 'objects'] },
  { name: 'list-approvals', file: 'api/list-approvals.ts', ports: ['runs', 'objects'] },
  { name: 'decide-approval', file: 'api/decide-approval.ts', ports: ['runs', 'objects', 'outbox'] },
  { name: 'stop-run', file: 'api/stop-run.ts', ports: ['runs', 'objects', 'outbox', 'telemetry'] },
  { name: 'stop-all', file: 'api/stop-all.ts', ports: ['runs', 'outbox', 'telemetry'] },
  {
    name: 'start-research',
    file: 'api/start-research.ts',
    ports: ['runs', 'objects', 'machine', 'outbox', 'telemetry'],
  },
  { name: 'get-research', file: 'api/get-research.ts', ports: ['runs', 'objects', 'waker'] },
  { name: 'put-entities', file: 'graph/put-entities.ts', ports: ['runs', 'objects', 'graph', 'outbox'] },
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
  {
    name: 'send-event',
    file: 'api/send-event.ts',
    ports: ['runs', 'objects', 'outbox', 'isolate', 'waits'],
  },
  {
    name: 'answer-callback',
    file: 'api/answer-callback.ts',
    ports: ['runs', 'objects', 'outbox', 'isolate', 'waits'],
  },
  {
    name: 'receive-event',
    file: 'runs/receive-event.ts',
    called_by: 'eventbridge',
    ports: ['runs', 'objects', 'outbox', 'isolate', 'waits'],
  },
  { name: 'list-webhooks', file: 'notify/list-webhooks.ts', ports: [] },
  { name: 'test-webhook', file: 'notify/test-webhook.ts', ports: ['runs', 'secrets', 'http', 'webhooks'] },
  { name: 'list-dead-webhooks', file: 'notify/list-dead-webhooks.ts', ports: ['runs'] },
  { name: 'replay-webhook', file: 'notify/replay-webhook.ts', ports: ['runs', 'secrets', 'http', 'webhooks'] },
  { name: 'authorize', file: 'auth/authorize.ts', guards: 'api', ports: ['tokens'] },
  { name: 'list-tokens', file: 'auth/list-tokens.ts', ports: ['tokens'] },
  { name: 'create-token', file: 'auth/create-token.ts', ports: ['runs', 'tokens'] },
  { name: 'revoke-token', file: 'auth/revoke-token.ts', ports: ['runs', 'tokens'] },
]
