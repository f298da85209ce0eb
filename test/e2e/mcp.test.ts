import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Started, startSluice } from './run-cli.ts'

/** `sluice mcp` as an MCP client sees it: the official client over stdio, against a real local place. */
const BIN = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))
const SLOW = 60_000

const ASKS = {
  name: 'note',
  inputs: { text: { type: 'string' } },
  blocks: [
    {
      id: 'publish',
      mode: 'deterministic',
      inputs: { text: { type: 'string', required: true } },
      outputs: { text: 'string' },
      deterministic: { handler: 'pass' },
      approval: { prompt: 'Publish this?' },
    },
  ],
}
const QUICK = {
  name: 'quick',
  blocks: [
    {
      id: 'say',
      mode: 'deterministic',
      outputs: { text: 'string' },
      deterministic: { handler: 'transform', config: { expression: '"hello"' } },
    },
  ],
}

let folder = ''
let place: Started
let url = ''
let shared: Client
const open: Client[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-mcp-'))
  place = await startSluice(['start', '--port', '0', '--json'], folder)
  url = String(place.first.url)
  shared = await connect('--url', url)
}, SLOW)
afterAll(async () => {
  for (const client of open.splice(0)) await client.close()
  await place.stop('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

async function connect(...args: string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StdioClientTransport({ command: process.execPath, args: [BIN, 'mcp', ...args], cwd: folder })
  await client.connect(transport)
  open.push(client)
  return client
}
/** A client that is there for all tests; what is told to it in one is no matter in another. */
const here = () => shared

interface Answer {
  readonly isError?: boolean
  readonly structuredContent?: unknown
  readonly content: readonly { readonly type: string; readonly text?: string }[]
}

/** What a tool answered; a refusal is none. */
async function call(client: Client, name: string, args: object = {}) {
  const answer = (await client.callTool({ name, arguments: { ...args } })) as Answer
  expect([answer.isError, answer.content[0]?.text]).toEqual([undefined, expect.any(String)])
  expect(JSON.parse(answer.content[0]?.text ?? '')).toEqual(answer.structuredContent)
  return answer.structuredContent as Record<string, never>
}

/** How a tool refused. */
async function refusal(client: Client, name: string, args: object = {}) {
  const answer = (await client.callTool({ name, arguments: { ...args } })) as Answer
  const { error } = answer.structuredContent as { error: { code: string; hint?: string } }
  expect(answer.isError).toBe(true)
  expect(answer.content[0]?.text).toContain(error.code)
  return error
}

describe('sluice mcp', { timeout: SLOW }, () => {
  test('lists its tools with schemas and what they do, without the one that decides for people', async () => {
    const { tools } = await here().listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toEqual([
      ...[
        'start_run',
        'watch_run',
        'run_status',
        'list_runs',
        'search_runs',
        'annotate_run',
        'stop_run',
        'list_approvals',
      ],
      ...['validate_dag', 'plan_dag', 'research_graph'],
    ])
    for (const { inputSchema, outputSchema, description } of tools) {
      expect([inputSchema.type, outputSchema?.type, (description ?? '').length > 20]).toEqual([
        'object',
        'object',
        true,
      ])
    }
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))
    expect(hints.run_status).toMatchObject({ readOnlyHint: true, destructiveHint: false })
    expect(hints.stop_run).toMatchObject({ readOnlyHint: false, destructiveHint: true })
    const start = tools.find(({ name }) => name === 'start_run')?.inputSchema.properties
    expect(Object.keys(start ?? {})).toEqual(expect.arrayContaining(['dag', 'name', 'inputs', 'idempotency_key']))
  })

  test('starts a run, follows it with progress to its end, and tells how it stands', async () => {
    const client = here()
    const { run_id } = await call(client, 'start_run', { dag: QUICK, idempotency_key: 'once' })
    expect(await call(client, 'start_run', { dag: QUICK, idempotency_key: 'once' })).toMatchObject({ run_id })
    const told: string[] = []
    const watched = (await client.callTool(
      { name: 'watch_run', arguments: { run_id } },
      { onprogress: ({ message }) => void told.push(message ?? '') },
    )) as Answer
    expect(watched.structuredContent).toMatchObject({ run_id, ended: true, state: 'completed', approvals: [] })
    const { events, last_seq } = watched.structuredContent as { events: string[]; last_seq: number }
    expect(told).toEqual(events)
    expect(events.at(-1)).toMatch(/run completed/)
    expect(await call(client, 'watch_run', { run_id, since: last_seq })).toMatchObject({ ended: true, events: [] })
    const status = await call(client, 'run_status', { run_id })
    expect(status).toMatchObject({ run: { state: 'completed' }, blocks: { say: { state: 'completed' } } })
    expect(Object.keys(status)).not.toContain('dag')
    expect(await call(client, 'list_runs', { dag: 'quick' })).toMatchObject({ runs: [{ run_id }], next_cursor: null })
  })

  test('watches no longer than asked, shows what people are asked, and stops the run', async () => {
    const client = here()
    const { run_id } = await call(client, 'start_run', { dag: ASKS, inputs: { text: 'Hello' } })
    const stands = async () => call(client, 'run_status', { run_id })
    await expect.poll(stands).toMatchObject({ run: { state: 'paused_approval' } })
    const seen = await call(client, 'watch_run', { run_id, wait_sec: 1 })
    expect(seen).toMatchObject({ ended: false, state: 'paused_approval', approvals: [{ block_id: 'publish' }] })
    expect(await call(client, 'list_approvals')).toMatchObject({
      approvals: [{ run_id, shown: { text: 'Hello' }, digest: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    })
    expect(await call(client, 'stop_run', { run_id, reason: 'enough' })).toMatchObject({ status: 'cancelled' })
    expect(await refusal(client, 'stop_run', { run_id })).toMatchObject({ status: 409 })
  })

  test('ends a watch at once when the client cancels it', async () => {
    const client = here()
    const { run_id } = await call(client, 'start_run', { dag: ASKS, inputs: { text: 'Hello' } })
    const cancel = AbortSignal.timeout(500)
    const watched = client.callTool({ name: 'watch_run', arguments: { run_id, wait_sec: 600 } }, { signal: cancel })
    await expect(watched).rejects.toThrow()
    expect(await call(client, 'run_status', { run_id })).toMatchObject({ run: { state: 'paused_approval' } })
    await call(client, 'stop_run', { run_id })
  })

  test('decides approvals only where it was started to, and only what was shown', async () => {
    const [asking, deciding] = [here(), await connect('--url', url, '--allow-approvals')]
    await expect(asking.callTool({ name: 'approve', arguments: {} })).rejects.toThrow(/approve/)
    expect((await deciding.listTools()).tools.map(({ name }) => name)).toContain('approve')
    const { run_id } = await call(deciding, 'start_run', { dag: ASKS, inputs: { text: 'Hello' } })
    type Asked = { readonly approvals: readonly { readonly run_id: string; readonly digest: string }[] }
    const asked = async () => ((await call(deciding, 'list_approvals')) as never as Asked).approvals
    await expect.poll(asked, { timeout: 30_000 }).toMatchObject([{ run_id }])
    const approvals = await asked()
    const decision = { run_id, decision: 'approve' }
    expect(await refusal(deciding, 'approve', decision)).toMatchObject({ code: 'invalid_arguments' })
    const other = { ...decision, digest: '0'.repeat(64) }
    expect(await refusal(deciding, 'approve', other)).toMatchObject({
      code: 'digest_changed',
      hint: expect.any(String),
    })
    const shown = { ...decision, digest: approvals[0]?.digest }
    expect(await call(deciding, 'approve', shown)).toMatchObject({ approval: { status: 'approved' } })
    await call(deciding, 'watch_run', { run_id })
    const { approvals: decided } = await call(deciding, 'run_status', { run_id })
    expect(decided).toMatchObject([{ status: 'approved', via: 'local', declared: { client: 'mcp' } }])
  })

  test('checks and plans documents, and says what is wrong with them', async () => {
    const client = here()
    expect(await call(client, 'validate_dag', { dag: QUICK })).toMatchObject({ valid: true, order: ['say'] })
    const bad = await call(client, 'validate_dag', { dag: 'blocks: [{ id: a, mode: magic }]' })
    expect(bad).toMatchObject({ valid: false, errors: [{ path: 'blocks[0].mode' }] })
    expect(await call(client, 'plan_dag', { dag: QUICK })).toMatchObject({ critical_path: expect.anything() })
    expect(await refusal(client, 'start_run', { dag: { blocks: [] } })).toMatchObject({
      code: 'invalid_dag',
      status: 400,
      errors: [{ path: expect.any(String), message: expect.any(String) }],
    })
  })

  test('asks the knowledge graph within a budget', async () => {
    const client = here()
    const question = { topic: 'What is a sluice?', hints: { field: 'water' }, budget_tokens: 2_000, max_iterations: 1 }
    const answer = await call(client, 'research_graph', { ...question, parent_loop: 'loop-1' })
    expect(answer).toMatchObject({ answered: true, parent_loop: 'loop-1', intent: { topic: question.topic } })
    expect(answer).toHaveProperty('result')
  })

  test('answers malformed arguments, unknown runs and a server that is away with code and hint', async () => {
    const client = here()
    expect(await refusal(client, 'start_run', {})).toMatchObject({ code: 'invalid_arguments' })
    expect(await refusal(client, 'watch_run', { run_id: 'run_1' })).toMatchObject({ errors: [{ path: 'run_id' }] })
    expect(await refusal(client, 'list_runs', { statsu: 'running' })).toMatchObject({
      code: 'invalid_arguments',
      hint: expect.stringContaining('status'),
    })
    const unknown = { run_id: `run_${'0'.repeat(26)}` }
    expect(await refusal(client, 'run_status', unknown)).toMatchObject({ code: 'unknown_run', status: 404 })
    const lost = await connect('--url', 'http://127.0.0.1:1')
    expect(await refusal(lost, 'list_runs')).toMatchObject({
      code: 'no_server',
      hint: expect.stringContaining('sluice start'),
    })
    // It is not the end of either.
    expect((await lost.listTools()).tools.length).toBeGreaterThan(0)
  })

  test('writes nothing but the protocol to stdout, whatever it is sent, and ends with its client', async () => {
    const child = spawn(process.execPath, [BIN, 'mcp', '--url', url], { stdio: 'pipe', cwd: folder })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } }
    const lines = [
      'this is no JSON',
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }),
      `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"start_run","arguments":{"name":"x","inputs":{"n":9007199254740993}}}}`,
      `{"jsonrpc":"2.0","id":5,"method":"no/such","params":{"n":9007199254740993}}`,
      JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'no/such' }),
    ]
    child.stdin.write(`${lines.join('\n')}\n`)
    while (!out.includes('"id":3')) await once(child.stdout, 'data')
    child.stdin.end()
    const [code] = await once(child, 'close')
    const answers = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([code, answers.map(({ jsonrpc }) => jsonrpc)]).toEqual([0, answers.map(() => '2.0')])
    expect(answers.find(({ id }) => id === 3)).toMatchObject({ error: { code: -32_601 } })
    const words = expect.stringContaining('9007199254740993 would become 9007199254740992')
    expect(answers.find(({ id }) => id === 4)).toMatchObject({
      result: { isError: true, structuredContent: { error: { code: 'number_inexact', detail: words } } },
    })
    expect(answers.find(({ id }) => id === 5)).toMatchObject({ error: { code: -32_602, message: words } })
  })
})
