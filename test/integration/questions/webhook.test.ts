import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readPayload } from '../../../shared/research/payloads/codec.ts'
import { searchResultKind } from '../../../shared/research/payloads/result.ts'
import { headOf } from '../child-place.ts'
import { type LocalServer, serve } from '../gates/guarded-servers.ts'
import { openQuestionPlace, type QuestionPlace } from './question-place.ts'

/** A server of whoever asks; `status` is what it answers next. */
let server: LocalServer
let status: number
let told: Record<string, unknown>[]
let open: QuestionPlace | undefined

beforeEach(async () => {
  status = 204
  told = []
  server = await serve((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      told.push(JSON.parse(text))
      response.writeHead(status).end()
    })
    return undefined
  })
})
afterEach(async () => {
  await open?.close()
  await server.close()
  open = undefined
})

const CAPITAL = { topic: 'What is the capital of Norway?' }
const QUIET = { log: { info: () => undefined, error: () => undefined } }
const openTold = (http_gates: object = { ports: [server.port], loopback: true }) =>
  openQuestionPlace(QUIET, { http_gates, research: { webhook: `${server.url}/continued?token=abc` } })
const owed = async (place: QuestionPlace, runId: string) => (await headOf(place, runId)).outbox.map(({ kind }) => kind)

describe('the research webhook', () => {
  test('is told of the answer to a loop that asked, once', async () => {
    open = await openTold()
    const { run_id, result } = await open.answered({ ...CAPITAL, parent_loop: 'loop-1' })
    await expect.poll(() => told.length).toBe(1)
    expect(told[0]).toMatchObject({
      v: 1,
      id: `${run_id}/research:continued`,
      event: 'research:continued',
      run_id,
      parent_loop: 'loop-1',
      answer: `/api/research/${run_id}`,
      result: { synthesis: result?.synthesis },
    })
    expect(readPayload(searchResultKind, told[0]?.result).ok).toBe(true)
    await expect.poll(() => owed(open as QuestionPlace, run_id)).toEqual([])
    await open.place.invoke('send-outbox', { tenant: 'main', run_id })
    await open.place.invoke('settle', { in: { v: 1, tenant: 'main', run_id } })
    expect(told).toHaveLength(1)
  })

  test('is told again until it says yes, with the same id', async () => {
    status = 503
    open = await openTold()
    const { run_id } = await open.answered({ ...CAPITAL, parent_loop: 'loop-1' })
    await expect.poll(() => told.length).toBe(1)
    await expect.poll(() => owed(open as QuestionPlace, run_id)).toEqual(['webhook'])
    status = 200
    await open.place.invoke('send-outbox', { tenant: 'main', run_id })
    expect(told.map(({ id }) => id)).toEqual([`${run_id}/research:continued`, `${run_id}/research:continued`])
    expect(await owed(open, run_id)).toEqual([])
  })

  test('is not asked where the rules of gates forbid it, and keeps nothing else back', async () => {
    open = await openTold({})
    const { run_id } = await open.answered({ ...CAPITAL, parent_loop: 'loop-1' })
    await expect.poll(() => owed(open as QuestionPlace, run_id)).toEqual(['webhook'])
    expect(told).toEqual([])
  })

  test('is not told of questions nobody waits for, nor of those of blocks', async () => {
    open = await openTold()
    await open.answered(CAPITAL)
    const ask = { id: 'ask', mode: 'research', research: CAPITAL }
    await open.ended(await open.start({ blocks: [ask] }))
    expect(told).toEqual([])
  })

  test('stands in the config without what may be a secret of it', async () => {
    open = await openTold()
    const { config } = (await open.call('get-config', '')).json as unknown as { config: { research: object } }
    expect(config.research).toMatchObject({ webhook: `${server.url}/continued?token=hidden` })
  })
})
