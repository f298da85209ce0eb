import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { openMcp } from '../../../functions/aws/mcp.ts'
import { openSecrets } from '../../../functions/aws/secrets.ts'
import { bundleFunctions, FUNCTION_OPTIONS } from '../../../infra/aws/bundle.ts'
import { entrySource } from '../../../infra/aws/entry-source.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { Fault } from '../../../shared/errors.ts'
import { ROUTES } from '../../../shared/routes.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { mcpToolPin } from '../../../shared/tools/tool-pin.ts'
import { createVirtualClock } from '../../conformance/virtual-clock.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'
import { startMcpServer } from '../../emulators/mcp-server.ts'
import { startSecrets } from '../../emulators/secrets.ts'
import { ROOT } from './assembly.ts'
import { importBundles } from './function-process.ts'

const SECRET = `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:sluice/desk-AbCdEf`
const KEY = 'desk-key-0123456789'
const dir = mkdtempSync(join(tmpdir(), 'sluice-mcp-aws-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** The adapter as a bundle of a function has it. */
async function bundledAdapter(): Promise<typeof openMcp> {
  const outfile = join(dir, 'mcp.mjs')
  const { outExtension: _, ...options } = FUNCTION_OPTIONS
  await build({ ...options, entryPoints: ['functions/aws/mcp.ts'], outfile })
  const module: { readonly openMcp: typeof openMcp } = await import(pathToFileURL(outfile).href)
  expect(readFileSync(outfile, 'utf8')).not.toContain('strictTuples')
  return module.openMcp
}

async function open(mcp_servers: unknown) {
  const secrets = await startSecrets({ [SECRET]: `${KEY}\n` })
  closing.push(() => secrets.close())
  const settings = SettingsSchema.parse({ mcp_servers })
  const core = { settings, secrets: openSecrets({ clock: createVirtualClock() }, secrets.aws) }
  return { mcp: (await bundledAdapter())(core), secrets }
}

const never = () => new AbortController().signal

describe('on AWS', () => {
  test('a tool is called over HTTP with the key behind its ARN, which is read once', async () => {
    const server = await startMcpServer([{ name: 'find', description: 'Finds.', inputSchema: { type: 'object' } }], KEY)
    closing.push(() => server.close())
    const { mcp, secrets } = await open({ desk: { url: server.url, key: { secret: SECRET }, tools: ['find'] } })
    const [told] = await mcp.tools('desk', never())
    if (told === undefined) throw new Error('it tells of none')
    const call = { tool: 'find', expected: mcpToolPin(told), args: { id: 7 }, key: 'run_1/b/1', signal: never() }
    expect(await mcp.call('desk', call)).toEqual({ text: '{"id":7}', is_error: false })
    expect(secrets.calls).toHaveLength(1)
    expect(new Set(server.asked.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${KEY}`]))
  })

  test('a server of a command, and a key that is only in an environment, are refused in words', async () => {
    const { mcp } = await open({
      files: { command: ['npx', 'server'], tools: { all: true } },
      desk: { url: 'https://desk.example', key: { env: 'DESK_KEY' }, tools: { all: true } },
    })
    await expect(mcp.tools('files', never())).rejects.toMatchObject({
      code: 'mcp_not_here',
      message: expect.stringContaining('only a local place does'),
    })
    await expect(mcp.tools('desk', never())).rejects.toMatchObject({ code: 'mcp_key_missing' })
  })

  test('a stage that names either is refused before it is made', () => {
    const yaml = `mcp_servers:
  files: { command: [npx, server], tools: { all: true } }
  desk: { url: "http://10.0.0.7/mcp", private: true, key: { env: DESK }, headers: { X-Team: { env: TEAM } }, tools: [find] }
`
    writeFileSync(join(dir, 'sluice.yaml'), yaml)
    const words = () => {
      try {
        readStageSettings(dir, { stage: 'dev' })
        return ''
      } catch (error) {
        return error instanceof Fault ? error.message : String(error)
      }
    }
    expect(words()).toMatch(/mcp_servers\.files\.command: a command is started by the local place alone/)
    expect(words()).toMatch(/mcp_servers\.desk\.private: private is for the local place/)
    expect(words()).toMatch(/mcp_servers\.desk\.key: on AWS a key is read from/)
    expect(words()).toMatch(/mcp_servers\.desk\.headers\.X-Team: on AWS a key is read from/)
  })
})

describe('bundles', () => {
  const settings = readStageSettings(ROOT, { stage: 'dev' })
  const made = async (mcp_servers: unknown) => {
    const to = mkdtempSync(join(dir, 'b-'))
    const parts = {
      settings: { ...settings, ...SettingsSchema.pick({ mcp_servers: true }).parse({ mcp_servers }) },
      dags: [],
      names: stageNames('dev'),
    }
    await bundleFunctions(to, parts, ['start-run', 'get-run'])
    const bytes = (name: string) => statSync(join(to, name, 'index.mjs')).size
    const carries = (name: string) => readFileSync(join(to, name, 'index.mjs'), 'utf8').includes('server/discover')
    return { to, bytes, carries }
  }

  let one: ReturnType<typeof made> | undefined
  const withOne = () => {
    one ??= made({ desk: { url: 'https://desk.example', tools: ['find'] } })
    return one
  }

  test('carry the client of the protocol where servers are named, and only those of functions that ask them', async () => {
    const named = await withOne()
    expect([named.carries('start-run'), named.carries('get-run')]).toEqual([true, false])
    expect(importBundles(named.to, ['start-run'])).toEqual({ handlers: [['start-run', 'function']], stderr: '' })
  })

  test('carry nothing of it where none is named, and little more where one is', { tags: ['thorough'] }, async () => {
    const [named, without] = [await withOne(), await made({})]
    expect([without.carries('start-run'), without.carries('get-run')]).toEqual([false, false])
    expect(named.bytes('start-run') - without.bytes('start-run')).toBeLessThan(250_000)
    // The settings are in every bundle.
    expect(named.bytes('get-run') - without.bytes('get-run')).toBeLessThan(1_000)
  })

  test('read keys where a server has one', () => {
    const line = FUNCTIONS.find(({ name }) => name === 'start-run')
    if (line === undefined) throw new Error('no start-run')
    const ports = (mcp: 'with_key' | 'plain') => entrySource(line, ROUTES, { secretsmanager: true, mcp })
    expect(ports('plain')).not.toContain('secrets:')
    expect(ports('with_key')).toMatch(/secrets: openManagerSecrets.*mcp: openMcp/)
    expect(entrySource(line, ROUTES)).toContain('mcp: openNoMcp')
  })
})
