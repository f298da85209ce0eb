import type { CommandHelp } from '../terminal/options.ts'

/** Commands about projects and places, by their words. */
export const PLACE_HELP: Readonly<Record<string, CommandHelp>> = {
  init: {
    prints: 'the files it wrote, then the next two commands.',
    json: '{folder, written: [path], replaced: [path]}.',
    exits: { 1: 'files it would write are there: they are listed, and nothing was written.' },
    examples: ['init brief', 'init . --force'],
  },
  'new dag': {
    prints: 'the file it wrote, and how to run it.',
    json: '{file, name, valid, blocks: [id]}.',
    exits: { 1: 'the file is there already; nothing was written.' },
    examples: ['new dag review --blocks read,check,publish', 'new dag review --from basic'],
  },
  'new gate': {
    prints: 'a gate to paste into a block, with what it decides in comments.',
    json: '{gate, type}: the gate as data.',
    examples: ['new gate long-enough --type min_length --port text'],
  },
  start: {
    prints: 'where it answers; then it logs until Ctrl-C. Runs go on at the next start.',
    json: 'one line when it is ready: {ready, url, pid, data_dir}, where callers need tokens also {login, first_tokens}, with --login {login, console_url, login_file}.',
    exits: { 1: 'port taken, folder in use, or a bad sluice.yaml.' },
    examples: ['start', 'start --port 0 --example', 'start --login'],
  },
  console: {
    prints:
      'the address of the page; where it holds a secret, whoever has it acts as you. Of a deployment, or a place that asks for a token, it is served here until Ctrl-C.',
    json: 'one line: {url}.',
    exits: { 1: 'no server there, no credentials for it, no such stack, or port taken.' },
    examples: ['console --open', 'console --stack dev --profile work --port 4042'],
  },
  doctor: {
    prints: 'a line a check: ok, warning, FAILED with what to do, or - where there is nothing to check.',
    json: '{ok, checks: [{name, state, says, fix?}]}; state is ok, warning, failed or skipped.',
    exits: { 100: 'a check failed. Warnings do not count.' },
    examples: ['doctor', 'doctor --json --url http://127.0.0.1:4040'],
  },
  completion: {
    prints: 'a script for the shell; the second line of it says where to put it.',
    examples: ['completion bash', 'completion zsh', 'completion fish'],
  },
  'slack manifest': {
    prints: 'the manifest of the Slack app, as JSON.',
    examples: ['slack manifest --url https://sluice.example.com'],
  },
  'token create': {
    prints: 'the text of the token alone, this once; about it on stderr.',
    json: '{token, token_id, tenant, name, scopes, state, created_at, created_by, expires_at}.',
    exits: { 1: 'you lack a scope it should have, or the tenant is not yours.' },
    examples: [
      'token create ci runs:read runs:write --days 30',
      'token create first admin:tokens runs:read runs:write --tenant acme',
    ],
  },
  'token list': {
    prints: 'a line a token: its id, whether it is valid and until when, its scopes and its name.',
    json: '{tokens: [{token_id, tenant, name, scopes, state, created_at, created_by, expires_at, revoked_at?, revoked_by?}]}.',
    examples: ['token list'],
  },
  'token revoke': {
    prints: 'whose token is revoked, since when and by whom.',
    json: '{token_id, tenant, name, scopes, state, created_at, created_by, expires_at, revoked_at, revoked_by}.',
    exits: { 1: 'there is none of this id.' },
    examples: ['token revoke 0v4x9k2m7q8r5t1w'],
  },
  'webhooks list': {
    prints: 'a line an endpoint: name, host, and the events it is told of.',
    json: '{webhooks: [{name, host, events, dags?, keys, timeout_ms, give_up_sec}]}.',
    examples: ['webhooks list'],
  },
  'webhooks test': {
    prints: 'whether the endpoint took the message, and what it answered.',
    json: '{id, endpoint, delivered, status?, reason?}.',
    exits: { 1: 'it did not take it.' },
    examples: ['webhooks test billing'],
  },
  'webhooks dead': {
    prints: 'a line a message: its id, its event, how often it was tried and how the last try went.',
    json: '{dead: [{id, endpoint, run_id, seq, type, event_at, tries, last, delivered_at?}], next_cursor}.',
    examples: ['webhooks dead', 'webhooks dead --endpoint billing --limit 100'],
  },
  'webhooks replay': {
    prints: 'a line a message: whether its endpoint took it now.',
    json: '{replayed: [{id, endpoint, delivered, status?, reason?, dead}]}.',
    exits: { 1: 'one of them was not taken; it stays dead.' },
    examples: ['webhooks replay --endpoint billing', 'webhooks replay --all'],
  },
  mcp: {
    prints: 'nothing but the protocol: an MCP client starts it and talks to it (docs/mcp.md).',
    examples: ['mcp', 'mcp --url http://127.0.0.1:4040 --allow-approvals'],
  },
  deploy: {
    prints:
      'the stacks, what their roles may do, what they cost idle and for 1,000 runs, read in the templates; then it asks. What the CDK says goes to stderr.',
    exits: {
      1: 'no credentials, not bootstrapped, too few concurrent executions, nobody said yes, or the CDK failed.',
    },
    examples: ['deploy', 'deploy --stage prod --profile work --yes'],
  },
  destroy: {
    prints: 'what goes and what stays; the name of the stage is typed before anything does.',
    exits: { 1: 'no credentials, the name was not typed, or the CDK failed.' },
    examples: ['destroy --stage dev', 'destroy --stage dev --with-data --confirm dev'],
  },
  logs: {
    prints: 'a line a logged line that names the run: time, function, level, message, facts; oldest first.',
    json: 'a line each: {at, group, text}; at is milliseconds since 1970.',
    examples: ['logs RUN --stage dev', 'logs RUN --stage prod --hours 72 --json'],
  },
  help: {
    prints: 'the help of the command these words name.',
    examples: ['help run start'],
  },
}
