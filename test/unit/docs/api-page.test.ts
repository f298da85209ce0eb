import { expect, test } from 'vitest'
import { ROUTE_SCHEMAS } from '../../../shared/api/openapi.ts'
import { ROUTES } from '../../../shared/routes.ts'

test('docs/api.md is what the catalog says (vitest -u writes it anew)', async () => {
  const rows = ROUTES.map(({ method, path, name, scope, signed_by }) => {
    const needs = signed_by === undefined ? (scope ?? 'any') : `signed by ${signed_by}`
    return `| \`${method} ${path}\` | ${needs} | ${cell(name)} |`
  })
  const table = ['| route | scope | answers |', '| --- | --- | --- |', ...rows].join('\n')
  await expect(`${[HEAD, table, MORE].join('\n\n')}\n`).toMatchFileSnapshot('../../../docs/api.md')
})

function cell(name: string): string {
  const summary = ROUTE_SCHEMAS[name]?.summary ?? ''
  // As the document itself has it.
  return summary === 'This document'
    ? 'All of these routes, as an OpenAPI 3.1 document'
    : summary.replaceAll('|', '\\|')
}

const HEAD = `# The API

Made from the catalog (\`shared/routes.ts\`, \`shared/api\`): the same schemas parse the requests and make \`GET /api/openapi.json\`, which has every parameter, body and answer. Locally it is on http://127.0.0.1:4040, on AWS behind API Gateway; the paths are the same.

A scope is what the caller's credential must allow ([tokens.md](tokens.md#scopes)); \`any\`: it is enough to be somebody. A refusal is \`application/problem+json\` with a stable code, its cause and its fix ([errors.md](errors.md)). Routes that change something take an \`Idempotency-Key\`: a repeated start with the same key and body is the same run.

## Routes`

const MORE = `## More on some

- **\`POST /api/dag/run\`** takes one of \`{example}\`, \`{name}\`, \`{dag}\` (with a \`name\` for a document that has none), with \`inputs\`, \`context\`, \`overrides\`, \`options\` and \`continues\`, an ended run whose context and artifacts are seen.
- **\`POST /api/dag/validate\`** answers every error, or warnings, order, hash and inputs; **\`plan\`** what runs will do, take and cost ([plan.md](plan.md)).
- **\`GET .../runs/{run_id}\`** and **\`.../blocks/{block_id}\`** have of a [step](steps.md) \`progress\` while it works, and \`log\`: its last lines, and the ref of the object that has all of them.
- **\`GET .../events\`** is a stream of Server-Sent Events that goes on after \`Last-Event-ID\`; **\`replay\`** answers the same events after \`since\`, in pages. Between the events a stream has \`block:delta\`: what a model says before its answer is recorded ([agents.md](agents.md#seen)). It has no id, and nothing of it is kept.
- **\`GET .../blocks/{block_id}/transcript\`** is what an agent with tools said, called and was told ([agents.md](agents.md#seen)).
- **\`POST .../approvals\`**: \`{decision: approve, digest}\`, with \`edits\`; \`{decision: waive, digest, feedback}\` for failed gates; \`{decision: reject, feedback}\`, with \`iterate\` ([approvals.md](approvals.md)).
- **\`POST .../stop\`** cancels the run, or with \`block_id\` one block. **\`stop-all\`** cancels every active run, and with \`{hold: true}\` refuses new ones until \`POST /api/dag/safety/release\`.
- **\`POST .../retry\`** starts a linked run that takes over every result whose block and inputs are the same: \`from_block\`, \`inputs\`, \`dag\` ([runs.md](runs.md)). **\`pivot\`** starts the next attempt at a missed goal ([goal-gates.md](goal-gates.md)).
- **\`PATCH .../context\`** takes \`{set, if_version}\`.
- **\`PUT /api/graph/entities\`** and **\`triples\`** take up to 100 entities or 1,000 triples a call, each judged by itself ([research.md](research.md)).
- **\`POST /api/slack/interactions\`** is signed by Slack; anything else is 401 ([slack.md](slack.md)). Webhooks: [webhooks.md](webhooks.md).`
