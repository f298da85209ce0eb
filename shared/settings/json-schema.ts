import * as z from 'zod'
import { FileSettingsSchema } from './settings.ts'

type Schema = Readonly<Record<string, unknown>>

/** JSON Schema (draft 2020-12) of sluice.yaml, for editors: made of the schema that reads the file, with words to each key. */
export function settingsSchema(): Schema {
  const { $schema, ...schema } = z.toJSONSchema(FileSettingsSchema, { io: 'input', unrepresentable: 'any' })
  return { $schema, title: 'Sluice settings (sluice.yaml)', ...described(schema, '') }
}

/** The same schema, each property with what it means. */
function described(schema: Schema, path: string): Schema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, isSchema(value) ? inner(key, value, path) : value]),
  )
}

function inner(key: string, value: Schema, path: string): unknown {
  if (Array.isArray(value)) return ALTERNATIVES.has(key) ? value.map((one: Schema) => described(one, path)) : value
  if (key === 'properties')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => property(name, one, path)))
  if (key === 'additionalProperties') return described(value, `${path}.*`)
  return key === 'items' ? described(value, `${path}[]`) : value
}

function property(name: string, schema: unknown, path: string): readonly [string, unknown] {
  const own = path === '' ? name : `${path}.${name}`
  const words = SETTINGS_WORDS[own]
  const told = described(schema as Schema, own)
  return [name, words === undefined ? told : { description: words, ...told }]
}

const ALTERNATIVES: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf'])

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}

/** What each key of sluice.yaml means, by its path; `*` stands for a name of yours, `[]` for an item of a list. */
export const SETTINGS_WORDS: Readonly<Record<string, string>> = {
  version: 'Version of this file: 1.',
  port: 'Port of `sluice start` on 127.0.0.1; 0 takes a free one.',
  public_url: 'Where others reach this place, as https://HOST/STAGE; addresses of callbacks begin so.',
  data_dir: 'Folder of runs, events and objects of the local place.',
  dags: 'Folders whose *.yaml are documents that runs start from by name.',
  inputs_dir: 'The one folder that runs of the local place may read files from.',
  providers: 'Who answers blocks of mode ai, by a name of yours; `local` is always there (docs/providers.md).',
  'providers.*.type': 'The adapter.',
  'providers.*.models': 'Models that may be asked for; absent: any.',
  'providers.*.url': 'The server, without the path of its API.',
  'providers.*.key': 'Where its key is: never the key itself.',
  'providers.*.key.env': 'Name of an environment variable (local place).',
  'providers.*.key.secret': 'ARN of a parameter or secret (on AWS).',
  'providers.*.timeout_ms': 'Of one dispatch in all, in milliseconds.',
  'providers.*.max_concurrency': 'Calls under way at once, of all runs; absent: any number.',
  'providers.*.breaker': 'When it is left alone for a while after failures in a row.',
  'providers.*.breaker.failures': 'Failures in a row that open the breaker.',
  'providers.*.breaker.open_ms': 'How long it stays open, in milliseconds.',
  'providers.*.idle_ms': 'Longest silence within an answer, in milliseconds.',
  'providers.*.region': 'AWS region; absent: the region of the place.',
  'providers.*.endpoint': 'A VPC endpoint, or a stand-in.',
  'providers.*.record': 'The recording: a file, or objstore://<tenant>/<sha256>.',
  prices:
    'What models cost, before the table of list prices: `<provider>/<model>` or `<provider>/*` (docs/providers.md).',
  'prices.*.input': 'Dollars a million tokens of what is sent.',
  'prices.*.output': 'Dollars a million tokens of what is written.',
  agents: 'Agents that blocks choose by name, role or capability.',
  'agents.*.role': 'What it is for.',
  'agents.*.provider': 'A name under providers, or local.',
  'agents.*.model': 'The model it asks for.',
  'agents.*.capabilities': 'What blocks may ask for under needs.',
  'agents.*.system': 'Sent before the prompt of blocks without a system text of their own; no template.',
  gates: 'Gates before the moves of a task (docs/task-gates.md).',
  'gates[].name': 'Name of the gate.',
  'gates[].on': 'The move it stands before.',
  'gates[].on.from': 'State the task leaves.',
  'gates[].on.to': 'State the task enters.',
  'gates[].check': 'What must hold (docs/gates.md).',
  'gates[].error': 'What is said when it does not.',
  pipelines: 'Which document moves the tasks of a pipeline, and by which gates.',
  'pipelines.*.dag': 'Name of the document.',
  'pipelines.*.gates': 'Names of gates above.',
  http_gates: 'What http and webhook gates may reach (docs/operate.md).',
  'http_gates.ports': 'Ports besides 80 and 443.',
  'http_gates.hosts': 'Hosts that may be reached; absent: any public one.',
  'http_gates.deny_hosts': 'Hosts that may not.',
  'http_gates.loopback': 'Whether this machine may be reached; for tests.',
  shell_gates: 'What shell gates may run; nothing unless allowed here.',
  'shell_gates.allow': 'Beginnings of command lines, each a list of words.',
  'shell_gates.path': 'The PATH of the commands.',
  services: 'Whom blocks of the handler http may ask, by a name of yours (docs/operate.md).',
  'services.*.url': 'Its URL: https, or http with private: true. Paths of documents are below it.',
  'services.*.key': 'Where its key is: never the key itself.',
  'services.*.key.env': 'Name of an environment variable (local place).',
  'services.*.key.secret': 'ARN of a parameter or secret (on AWS).',
  'services.*.header': 'The header its key is sent in as it is; absent: Authorization, as Bearer.',
  'services.*.timeout_ms': 'Of one request, in milliseconds.',
  'services.*.private': 'Whether it is of this machine or of a private network; local place only.',
  approvals: 'Who decides where a document names nobody or a group (docs/approvals.md).',
  'approvals.default_group': 'The group asked where a document names nobody.',
  'approvals.groups': 'Groups of people: user:NAME, slack:ID, iam:ROLE, token:ID.',
  authoring: 'Whether runs may bring documents, overrides and context of their own (docs/tokens.md).',
  people: 'Who is meant by a name in documents: `owner` to a list of user:NAME, slack:ID, iam:ROLE, token:ID.',
  tenants: 'Whose runs, objects and graphs are kept apart; main is among them (docs/tokens.md).',
  slack: 'Where people are asked in Slack (docs/slack.md).',
  auth: 'How callers prove who they are (docs/tokens.md).',
  'auth.jwt': 'JWTs of which issuer are taken.',
  'auth.mode': 'What a caller comes with; absent = no login. A deployment is told by sluice:auth instead.',
  'auth.jwt.issuer': 'The iss of the JWTs, to the letter.',
  'auth.jwt.audience': 'One of these is in their aud.',
  'auth.jwt.jwks_url': 'Where the public keys of the issuer are; absent = its /.well-known/jwks.json.',
  'auth.jwt.scopes_claim': 'The claim that holds scopes.',
  'auth.jwt.person_claim': 'The claim that names the person: who comes with several subjects is one; absent: sub.',
  'auth.jwt.tenant_claim': 'The claim that names the tenant; absent: everybody is of main.',
  'slack.team_id': 'The workspace.',
  'slack.app_id': 'The app.',
  'slack.channel': 'The channel of questions.',
  'slack.tenant': 'Whose runs are told and decided there.',
  'slack.token': 'Where the bot token is.',
  'slack.token.env': 'Name of an environment variable (local place).',
  'slack.token.secret': 'ARN of a parameter or secret (on AWS).',
  'slack.signing_secret': 'Where the signing secret is; two while it is rotated.',
  'slack.signing_secret.env': 'Name of an environment variable (local place).',
  'slack.signing_secret.secret': 'ARN of a parameter or secret (on AWS).',
  'slack.users': 'Slack members by user of this place.',
  'slack.url': 'Where Slack reaches this place.',
  'slack.open_url': 'Where people open runs.',
  'slack.api_url': 'A stand-in for the Slack API; for tests.',
  webhooks: 'Who is told of events over HTTP (docs/webhooks.md).',
  'webhooks[].name': 'Name of the receiver.',
  'webhooks[].url': 'Where it is told.',
  'webhooks[].tenant': 'Whose runs it is told of.',
  'webhooks[].events': 'Types of events it is told of.',
  'webhooks[].dags': 'Names of documents whose runs it is told of; absent: all.',
  'webhooks[].key': 'Where the key is that signs; two while it is rotated.',
  'webhooks[].key.env': 'Name of an environment variable (local place).',
  'webhooks[].key.secret': 'ARN of a parameter or secret (on AWS).',
  'webhooks[].timeout_ms': 'Of one delivery, in milliseconds.',
  'webhooks[].give_up_sec': 'How long a delivery is tried again, in seconds.',
  telemetry: 'Where spans of runs and of calls of models are sent; absent: nowhere (docs/observability.md).',
  'telemetry.otlp': 'A collector that takes OTLP over HTTP as JSON.',
  'telemetry.otlp.endpoint': 'Its URL, to which /v1/traces is added.',
  'telemetry.otlp.headers': 'Headers by name; the value of each is where its whole value is kept.',
  'telemetry.otlp.headers.*.env': 'Name of an environment variable (local place).',
  'telemetry.otlp.headers.*.secret': 'ARN of a parameter or secret (on AWS).',
  'telemetry.otlp.capture_content': 'Whether spans also hold what models were asked and what they answered.',
  research: 'Who answers the stages of the research chain (docs/research.md).',
  'research.provider': 'A name under providers, or local.',
  'research.model': 'The model it asks for.',
  'research.max_tokens': 'Tokens of one answer.',
  'research.timeout_ms': 'Of one call, in milliseconds.',
  'research.params': 'Further parameters of the model.',
  'research.webhook': 'Where the end of a question is told.',
  'research.embeddings': 'Who turns hits into vectors; absent: nobody.',
  'research.embeddings.provider': 'A name under providers that has embeddings.',
  'research.embeddings.model': 'The model of the vectors.',
  'research.embeddings.hits': 'How many of the best hits are compared.',
  'research.judge': 'Who may doubt sentences of an answer; absent: nobody.',
  'research.judge.provider': 'A name under providers, not extractive.',
  'research.judge.model': 'The model it asks for.',
  'research.judge.max_tokens': 'Tokens of its answer.',
  'research.judge.params': 'Further parameters of the model.',
  'research.classifier_tier_3': 'Whether a model classifies what patterns cannot.',
  reserved_concurrency: 'Of a deployment: whether executions are kept free for the sweep, decisions and stops.',
  audit: 'How the record of a run is kept from whoever runs the stage (docs/security.md).',
  'audit.anchor': 'Where the end of its hash chain is written besides; s3-object-lock: on AWS alone.',
  'audit.retention_days': 'Days S3 locks an anchor; not less than records are kept.',
  safety: 'Limits that hold for every run, whatever its document says.',
  'safety.max_run_sec': 'Longest run, in seconds; time in which only people are waited for is not counted.',
  'safety.max_block_ms': 'Longest attempt of a block, in milliseconds.',
  'safety.max_attempts': 'Most attempts of a block.',
  'safety.max_parallel': 'Blocks of a run at once; 0: no limit.',
  'safety.max_body_bytes': 'Largest request body, in bytes.',
  'safety.max_runs': 'Active runs at once.',
  'safety.queue': 'Whether a run above max_runs waits for a place instead of being refused.',
  'safety.stall_sec': 'A run without progress that waits for nobody is cancelled after so many seconds.',
  'safety.max_run_tokens': 'Tokens of a run; absent: no cap.',
  'safety.max_run_usd': 'US dollars of a run; absent: no cap.',
  'safety.max_block_tokens': 'Tokens of a block; absent: no cap.',
  'safety.max_block_usd': 'US dollars of a block; absent: no cap.',
  'safety.max_run_bytes': 'Bytes of bodies one run may store.',
  'safety.max_tenant_bytes': 'Bytes of bodies the runs and uploads of a tenant may store together; absent: no quota.',
  'safety.max_requests_per_min': 'Requests a minute of one caller that start, change or check something.',
  'safety.max_streams_per_caller': 'Open streams of events of one caller.',
  'safety.max_streams': 'Open streams of events of a tenant.',
  'safety.self_approval': 'Whether who started a run may decide in it.',
  'safety.retention_days': 'Days an ended run and its values are kept.',
}
