import { idOf, stated } from '../../conformance/graph-fixture.ts'
import type { Request } from './door.ts'
import { type Filled, NO_OBJECT } from './fill-tenant.ts'

/** One request that names something by its id; `own` is whoever asks. */
export interface Row {
  /** Function of the route. */
  readonly route: string
  readonly what: string
  readonly id: (of: Filled) => string
  readonly request: (
    id: string,
    own: Filled,
    theirs: Filled,
  ) => Request & { readonly method: string; readonly path: string }
  /** Its owner gets the very same answer: it does not depend on what is there. */
  readonly blind?: true
}

const get = (path: string) => ({ method: 'GET', path })
const send = (method: string, path: string, body: unknown) => ({ method, path, body })

/** Requests about a run, by the rest of their path. */
function ofRun(route: string, rest: string, how: { readonly method?: string; readonly body?: unknown } = {}): Row {
  const path = (id: string) => `/api/dag/runs/${id}${rest}`
  const { method = 'GET', body } = how
  return {
    ...{ route, what: `a run, ${method} ..${rest}`, id: ({ done }: Filled) => done },
    request: (id) => (body === undefined ? { method, path: path(id) } : { method, path: path(id), body }),
  }
}

const decision = (approval_id: string, { digest }: Filled) => ({ approval_id, digest, decision: 'approve' })

/** Every route that takes an id, by each kind of id it takes. */
export const ROWS: readonly Row[] = [
  ofRun('get-run', ''),
  ofRun('get-block', '/blocks/plan'),
  ofRun('get-transcript', '/blocks/plan/transcript'),
  ofRun('get-run-graph', '/graph'),
  ofRun('replay-run', '/replay'),
  ofRun('record-run', '/recording'),
  ofRun('verify-run', '/verify'),
  ofRun('stream-events', '/events'),
  ofRun('get-outputs', '/outputs/plan'),
  ofRun('get-context', '/context'),
  ofRun('list-artifacts', '/artifacts'),
  ofRun('get-artifact', '/artifacts/note.txt'),
  ofRun('get-goal', '/goal'),
  ofRun('patch-context', '/context', { method: 'PATCH', body: { set: { a: 1 }, if_version: 1 } }),
  ofRun('list-notes', '/notes'),
  ofRun('add-note', '/notes', { method: 'POST', body: { labels: { set: { team: 'theirs' } } } }),
  ofRun('stop-run', '/stop', { method: 'POST', body: { reason: 'no more' } }),
  ofRun('get-erasure', '/erasure'),
  ofRun('hold-run', '/hold', { method: 'PUT', body: { reason: 'An audit' } }),
  ofRun('release-hold', '/hold', { method: 'DELETE', body: { reason: 'It is over' } }),
  ofRun('erase-run', '', { method: 'DELETE', body: { reason: 'They asked for it' } }),
  ofRun('stop-run', '/stop', { method: 'POST', body: { block_id: 'plan' } }),
  ofRun('retry-run', '/retry', { method: 'POST', body: {} }),
  ofRun('pivot-run', '/pivot', { method: 'POST', body: {} }),
  { ...ofRun('get-run', ''), what: 'a run of research', id: ({ research }) => research },
  {
    ...{ route: 'diff-runs', what: 'a run, on the left', id: ({ done }) => done },
    request: (id, own) => get(`/api/dag/runs/${id}/diff/${own.done}`),
  },
  {
    ...{ route: 'diff-runs', what: 'a run, on the right', id: ({ done }) => done },
    request: (id, own) => get(`/api/dag/runs/${own.done}/diff/${id}`),
  },
  {
    ...{ route: 'get-research', what: 'a run of research', id: ({ research }) => research },
    request: (id) => get(`/api/research/${id}`),
  },
  {
    ...{ route: 'start-run', what: 'a run that is continued', id: ({ done }) => done },
    request: (id) => send('POST', '/api/dag/run', { example: 'basic', continues: id }),
  },
  {
    ...{ route: 'decide-approval', what: 'a run and its approval', id: ({ asking }) => asking },
    request: (id, _own, theirs) =>
      send(
        'POST',
        `/api/dag/runs/${id}/approvals`,
        decision(theirs.approval.replace(theirs.asking.slice(4), id.slice(4)), theirs),
      ),
  },
  {
    ...{ route: 'decide-approval', what: "an approval, below one's own run", id: ({ approval }) => approval },
    request: (id, own, theirs) => send('POST', `/api/dag/runs/${own.asking}/approvals`, decision(id, theirs)),
  },
  {
    ...{ route: 'list-approvals', what: 'an approval', id: ({ approval }) => approval },
    request: (id) => get(`/api/dag/approvals?approval_id=${id}`),
  },
  {
    ...{ route: 'get-entity', what: 'an entity', id: ({ entity }) => entity },
    request: (id) => get(`/api/graph/entities/${id}`),
  },
  {
    ...{ route: 'get-neighbors', what: 'an entity', id: ({ entity }) => entity },
    request: (id) => get(`/api/graph/entities/${id}/neighbors`),
  },
  {
    ...{ route: 'put-triples', what: 'an entity that is stated of', id: ({ beside }) => beside },
    request: (id) =>
      send('PUT', '/api/graph/triples', { triples: [{ ...stated('x', 'geo.capital', 'theirs'), subject: id }] }),
  },
  {
    ...{ route: 'delete-entity', what: 'an entity', id: ({ entity }) => entity },
    request: (id) => send('DELETE', `/api/graph/entities/${id}`, undefined),
  },
  {
    ...{ route: 'delete-entities', what: 'an entity', id: ({ alone }) => alone },
    request: (id) => send('DELETE', '/api/graph/entities', { entity_ids: [id] }),
  },
  {
    ...{ route: 'put-entities', what: 'an object ref', id: ({ object }) => object },
    request: (id, _own, { tenant }) =>
      send('PUT', '/api/graph/entities', { entities: [entityWith(`objstore://${tenant}/${id}`)] }),
  },
  {
    ...{ route: 'put-entities', what: "an object, by a ref of one's own", id: ({ object }) => object },
    request: (id, { tenant }) =>
      send('PUT', '/api/graph/entities', { entities: [entityWith(`objstore://${tenant}/${id}`)] }),
  },
  {
    ...{ route: 'get-object', what: 'an object', id: ({ object }) => object },
    request: (id) => get(`/api/objects/${id}`),
  },
  {
    ...{ route: 'upload-object', what: 'an object', id: ({ object }) => object, blind: true },
    request: (id) => send('POST', '/api/objects/upload', { sha256: id, size: 20 }),
  },
  {
    ...{ route: 'export-stage', what: 'a run', id: ({ done }) => done },
    request: (id) => get(`/api/stage/export?what=run&run_id=${id}`),
  },
  {
    ...{ route: 'export-stage', what: 'an object', id: ({ object }) => object },
    request: (id) => get(`/api/stage/export?what=body&sha256=${id}`),
  },
  {
    ...{ route: 'import-stage', what: 'an object', id: ({ object }) => object },
    request: (id, { tenant }) =>
      send('POST', '/api/stage/import', { what: 'run', refs: [`objstore://${tenant}/${id}`] }),
  },
  {
    ...{ route: 'revoke-token', what: 'a token', id: ({ token }) => token },
    request: (id) => send('DELETE', `/api/tokens/${id}`, undefined),
  },
  ...[
    ['get-trigger', 'GET', '', undefined],
    ['change-trigger', 'PATCH', '', { paused: true }],
    ['fire-trigger', 'POST', '/fire', {}],
    ['try-trigger', 'POST', '/try', {}],
  ].map(([route, method, rest, body]): Row => {
    const id = () => 'nightly-of-this-tenant'
    const request = (named: string) => send(String(method), `/api/triggers/report/${named}${rest}`, body)
    return { route: String(route), what: 'a trigger', id, blind: true, request }
  }),
  {
    ...{ route: 'test-webhook', what: 'an endpoint', id: ({ endpoint }) => endpoint },
    request: (id) => send('POST', '/api/webhooks/test', { name: id }),
  },
  {
    ...{ route: 'list-dead-webhooks', what: 'an endpoint', id: ({ endpoint }) => endpoint },
    request: (id) => get(`/api/webhooks/dead?endpoint=${id}`),
  },
  {
    ...{ route: 'replay-webhook', what: 'a dead webhook', id: ({ dead }) => dead },
    request: (id) => send('POST', '/api/webhooks/replay', { id }),
  },
  {
    ...{ route: 'get-bulk', what: 'a bulk', id: ({ bulk }) => bulk },
    request: (id) => get(`/api/dag/bulk/${id}`),
  },
  {
    ...{ route: 'change-bulk', what: 'a bulk', id: ({ bulk }) => bulk },
    request: (id) => send('POST', `/api/dag/bulk/${id}`, { do: 'cancel' }),
  },
  {
    ...{ route: 'put-view', what: 'a view', id: ({ views }) => views[0] },
    request: (id) => send('PUT', `/api/dag/views/${id}`, { name: 'another' }),
  },
  {
    ...{ route: 'delete-view', what: 'a view', id: ({ views }) => views[1], blind: true },
    request: (id) => send('DELETE', `/api/dag/views/${id}`, undefined),
  },
  ...(['runs', 'open', 'closed', 'dead'] as const).map((list): Row => {
    const route = { runs: 'list-runs', open: 'list-approvals', closed: 'list-approvals', dead: 'list-dead-webhooks' }
    const path = {
      ...{ runs: '/api/dag/runs?limit=1', open: '/api/dag/approvals?limit=1' },
      ...{ closed: '/api/dag/approvals?limit=1&status=decided', dead: '/api/webhooks/dead?limit=1' },
    }
    return {
      ...{ route: route[list], what: `a cursor (${list})`, id: ({ cursors }) => cursors[list] },
      request: (id) => get(`${path[list]}&cursor=${id}`),
    }
  }),
]

function entityWith(objectstore_ref: string) {
  return { entity_id: idOf('spy'), label: 'Spy', objectstore_ref }
}

/** An id of the same form and length that nobody has. */
export function unknownLike(id: string): string {
  if (/^[0-9a-f]{64}$/.test(id)) return NO_OBJECT
  if (/^(hook|view)-/.test(id)) return `${id.slice(0, 5)}${'z'.repeat(id.length - 5)}`
  if (id.startsWith('bulk_')) return `bulk_${'0'.repeat(id.length - 5)}`
  if (id.includes('.')) return `${id.slice(0, -4)}zzzz`
  const run = /(?<=run_|apr_)[0-9a-z]{26}/
  if (run.test(id)) return id.replace(run, '0'.repeat(26))
  if (/^[0-9a-z]{16}$/.test(id)) return '0'.repeat(16)
  return `${id.slice(0, 20)}${id[20] === 'A' ? 'B' : 'A'}${id.slice(21)}`
}
