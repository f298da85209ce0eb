import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { startHttpProvider } from '../emulators/http-provider-server.ts'
import { type McpEmulator, startMcpServer } from '../emulators/mcp-server.ts'
import type { ProviderServer } from '../emulators/provider-server.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** A stage whose agents have a tool of an MCP server: its key from Secrets Manager, read with the role of each function. */
const SECRET = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/desk-AbCdEf'
const KEY = 'desk-canary-5d21c8'
let server: McpEmulator
let model: ProviderServer
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  server = await startMcpServer([{ name: 'find', description: 'Finds.', inputSchema: { type: 'object' } }], KEY)
  model = await startHttpProvider(() => ({ text: 'Nobody needs a tool.' }))
  const { providers, mcp_servers } = SettingsSchema.parse({
    providers: { own: { type: 'http', url: model.url } },
    mcp_servers: { desk: { url: server.url, key: { secret: SECRET }, tools: ['find'] } },
  })
  const shipped = readStageSettings(join(import.meta.dirname, '../..'), { stage: 'dev' })
  const settings = { ...shipped, providers: { ...shipped.providers, ...providers }, mcp_servers }
  made = await synthesize({}, settings)
  place = await deploy(made.out, { [SECRET]: KEY })
  caller = callerOf(place.api.url)
})
afterAll(async () => {
  await place.close()
  await server.close()
  await model.close()
  made.remove()
})

const dag = {
  name: 'acts',
  blocks: [
    {
      id: 'act',
      outputs: { answer: 'string' },
      agent: { provider: 'own', model: 'm', prompt: 'Go.', tools: ['desk.find'] },
    },
  ],
}

test('a start freezes the tool as its server tells of it, with the key that its role may read', async () => {
  const id = await caller.start({ dag })
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
  const listed = server.asked.filter(({ method }) => method === 'tools/list')
  expect(listed.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`])
})

test('a server that is away refuses the start, in words without its key', async () => {
  server.instead.set('tools/list', (response) => response.writeHead(503).end())
  const { status, json } = await caller.call('POST', '/api/dag/run', { dag })
  server.instead.clear()
  expect(status).toBe(503)
  expect(JSON.stringify(json)).toContain('mcp_unavailable')
  expect(JSON.stringify(json)).not.toContain(KEY)
})
