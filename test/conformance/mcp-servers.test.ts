import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMcp } from '../../infra/local/mcp.ts'
import type { McpServers } from '../../shared/tools/mcp-port.ts'
import { McpServersSettingsSchema } from '../../shared/tools/settings.ts'
import { mcpToolPin } from '../../shared/tools/tool-pin.ts'

/** Servers of others, as they come from npm: @modelcontextprotocol/server-everything and server-filesystem. */
const ROOT = resolve(import.meta.dirname, '../..')
const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'
const FILESYSTEM = 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'
const NODE = process.execPath

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-mcp-')))
const held = new Map([['DESK_TOKEN', 'a-secret-of-the-desk']])
let http: ChildProcess
let place: ReturnType<typeof createMcp>

beforeAll(async () => {
  writeFileSync(join(folder, 'a.txt'), 'first\nsecond\n')
  const port = await freePort()
  http = spawn(NODE, [EVERYTHING, 'streamableHttp'], {
    cwd: ROOT,
    env: { PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said = Promise.withResolvers<void>()
  http.stderr?.on('data', (chunk: Buffer) => String(chunk).includes('listening') && said.resolve())
  await said.promise
  const servers = McpServersSettingsSchema.parse({
    everything: { command: [NODE, EVERYTHING, 'stdio'], env: ['DESK_TOKEN'], tools: { all: true } },
    files: { command: [NODE, FILESYSTEM, folder], tools: ['read_text_file', 'write_file', 'list_directory'] },
    remote: { url: `http://127.0.0.1:${port}/mcp`, tools: { all: true } },
  })
  place = createMcp({ mcp_servers: servers, project_dir: ROOT }, held)
})

afterAll(async () => {
  await place.close()
  http.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function call(mcp: McpServers, server: string, tool: string, args: Parameters<McpServers['call']>[1]['args']) {
  const { signal } = new AbortController()
  const told = (await mcp.tools(server, signal)).find(({ name }) => name === tool)
  if (told === undefined) throw new Error(`${server} has no ${tool}`)
  return mcp.call(server, { tool, expected: mcpToolPin(told), args, key: 'run_1/2/3', signal })
}

describe.each([
  ['stdio', 'everything'],
  ['streamable HTTP', 'remote'],
])('server-everything over %s', (_, server) => {
  test('tells of its tools, each with a schema of an object', async () => {
    const tools = await place.tools(server, new AbortController().signal)
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image']))
    expect(tools.every(({ input_schema }) => (input_schema as { type?: unknown }).type === 'object')).toBe(true)
  })

  test('answers a call with text', async () => {
    expect(await call(place, server, 'echo', { message: 'grüß dich 🜁' })).toEqual({
      text: 'Echo: grüß dich 🜁',
      is_error: false,
    })
  })

  test('an image is told by kind and size, structured content is kept', async () => {
    expect((await call(place, server, 'get-tiny-image', {})).text).toMatch(/\n\[image\/png, \d+ kB\]\n/)
    expect(await call(place, server, 'get-structured-content', { location: 'Chicago' })).toMatchObject({
      structured: { temperature: expect.any(Number), conditions: expect.any(String) },
      is_error: false,
    })
  })

  test('wrong arguments are an error of the tool, in its words', async () => {
    expect(await call(place, server, 'get-sum', { a: 'one' })).toMatchObject({
      is_error: true,
      text: expect.stringContaining('expected number'),
    })
  })

  test('a tool that takes long is waited for, its progress is left aside, and a stop ends the wait', async () => {
    const long = { duration: 0.4, steps: 4 }
    expect(await call(place, server, 'trigger-long-running-operation', long)).toMatchObject({ is_error: false })
    const tool = 'trigger-long-running-operation'
    const told = (await place.tools(server, new AbortController().signal)).find(({ name }) => name === tool)
    if (told === undefined) throw new Error('gone')
    const stop = new AbortController()
    const args = { duration: 600, steps: 2 }
    const going = place.call(server, { tool, expected: mcpToolPin(told), args, key: 'k', signal: stop.signal })
    setTimeout(() => stop.abort(new Error('stopped')), 200)
    // Whether the call was sent by then is told in test/integration/mcp-servers.test.ts, where that is seen.
    await expect(going).rejects.toThrow(/stopped/)
  })
})

test('a server of stdio has of the environment what the settings name, and its secrets are told by nobody', async () => {
  const { text } = await call(place, 'everything', 'get-env', {})
  expect(JSON.parse(text)).toEqual({ PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', DESK_TOKEN: '[key]' })
})

describe('server-filesystem over stdio', () => {
  test('tells of the tools that are allowed, and of no others', async () => {
    const tools = await place.tools('files', new AbortController().signal)
    expect(tools.map(({ name }) => name).toSorted()).toEqual(['list_directory', 'read_text_file', 'write_file'])
  })

  test('reads and writes below its folder, and refuses what is beside it in its own words', async () => {
    const path = join(folder, 'a.txt')
    expect(await call(place, 'files', 'read_text_file', { path })).toMatchObject({
      text: 'first\nsecond\n',
      is_error: false,
    })
    const made = join(folder, 'b.txt')
    expect(await call(place, 'files', 'write_file', { path: made, content: 'new' })).toMatchObject({ is_error: false })
    expect(existsSync(made)).toBe(true)
    expect(await call(place, 'files', 'read_text_file', { path: '/etc/hostname' })).toMatchObject({
      text: expect.stringContaining('Access denied'),
      is_error: true,
    })
  })

  test('what it offers besides is not called, whatever the run was frozen to', async () => {
    const expected = { hash: 'x', description: '', input_schema: {} }
    const { signal } = new AbortController()
    const moved = place.call('files', { tool: 'move_file', expected, args: {}, key: 'k', signal })
    await expect(moved).rejects.toMatchObject({ name: 'Rejected', code: 'tool_changed' })
  })
})
