import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type LoginPlace, openLoginPlace } from './login-place.ts'

let at: LoginPlace | undefined
afterEach(async () => {
  await at?.close()
  at = undefined
})

const DOCUMENT = {
  name: 'outline',
  inputs: { topic: { type: 'string', default: 'cats' } },
  blocks: [
    {
      id: 'a',
      agent: { provider: 'local', model: 'outline', prompt: '{{inputs.topic}}' },
      inputs: { topic: { type: 'string', default: 'dogs' } },
      outputs: { text: 'string' },
    },
  ],
}

type Send = (method: string, path: string, body: object) => Promise<readonly [number, string, string]>

async function openAs(scopes: readonly string[], more: object = {}): Promise<Send> {
  at = await openLoginPlace({ mode: 'token' }, ['main'], more)
  const { send } = at
  writeFileSync(join(at.folder, 'outline.yaml'), JSON.stringify(DOCUMENT))
  const { token } = await at.create({ name: 'one', scopes: ['runs:read', ...scopes] })
  return async (method, path, body) => {
    const { status, json } = await send(method, path, `Bearer ${token}`, body)
    const { code = '', detail = '', run_id = '' } = json as Readonly<Record<string, string>>
    return [status, code, run_id === '' ? detail : run_id]
  }
}

const start = (send: Send, body: object) => send('POST', '/api/dag/run', body)
const AUTHORED: readonly (readonly [string, object])[] = [
  ['a document', { dag: { ...DOCUMENT, name: 'mine' } }],
  ['an edited document', { dag: { ...DOCUMENT, description: 'mine', inputs: {} } }],
  ['an example', { example: 'basic' }],
  ['overrides', { name: 'outline', overrides: { 'a.topic': 'birds' } }],
  ['context', { name: 'outline', context: { topic: 'birds' } }],
  ['undeclared inputs', { name: 'outline', inputs: { tone: 'dry' } }],
]

describe('runs:start', () => {
  test('starts deployed documents with declared inputs, also sent as they are, and retries them', async () => {
    const send = await openAs(['runs:start'])
    const [status, , id] = await start(send, { name: 'outline', inputs: { topic: 'birds' } })
    expect([status, id]).toEqual([201, expect.stringMatching(/^run_/)])
    expect((await start(send, { dag: DOCUMENT }))[0]).toBe(201)
    await expect.poll(async () => (await send('POST', `/api/dag/runs/${id}/retry`, {}))[0]).toBe(201)
  })

  test.each(AUTHORED)('refuses %s: that is for runs:author', async (_name, body) => {
    const send = await openAs(['runs:start'])
    const [status, code, detail] = await start(send, body)
    expect([status, code]).toEqual([403, 'missing_scope'])
    expect(detail).toContain('runs:author')
  })

  test('refuses overrides in a retry, and a patch of the context', async () => {
    const send = await openAs(['runs:start'])
    const [, , id] = await start(send, { name: 'outline' })
    await expect
      .poll(async () => (await send('POST', `/api/dag/runs/${id}/retry`, { overrides: { 'a.topic': 'x' } }))[1])
      .toBe('missing_scope')
    const patch = { set: { topic: 'x' }, if_version: 0 }
    expect((await send('PATCH', `/api/dag/runs/${id}/context`, patch)).slice(0, 2)).toEqual([403, 'missing_scope'])
  })
})

test.each(AUTHORED)('runs:author, and the older runs:write, bring %s', async (_name, body) => {
  for (const scopes of [['runs:start', 'runs:author'], ['runs:write']]) {
    const send = await openAs(scopes)
    expect((await start(send, body))[1]).not.toBe('missing_scope')
    await at?.close()
  }
  at = undefined
})

describe('authoring: deployed_only', () => {
  test('refuses everybody what is not deployed, and says why', async () => {
    const send = await openAs(['runs:write', 'admin:tokens'], { authoring: 'deployed_only' })
    for (const [, body] of AUTHORED) {
      const [status, code, detail] = await start(send, body)
      expect([body, status, code]).toEqual([body, 403, 'authoring_closed'])
      expect(detail).toContain('deployed_only')
    }
    expect((await start(send, { name: 'outline', inputs: { topic: 'birds' } }))[0]).toBe(201)
  })

  test('lets a run be tried again while its document is the deployed one', async () => {
    const send = await openAs(['runs:write'], { authoring: 'deployed_only' })
    const [, , id] = await start(send, { name: 'outline' })
    await expect.poll(async () => (await send('POST', `/api/dag/runs/${id}/retry`, {}))[0]).toBe(201)
    writeFileSync(join(at?.folder ?? '', 'outline.yaml'), JSON.stringify({ ...DOCUMENT, inputs: {} }))
    const refused = await send('POST', `/api/dag/runs/${id}/retry`, {})
    expect(refused.slice(0, 2)).toEqual([403, 'authoring_closed'])
  })
})
