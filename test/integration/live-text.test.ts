import { afterEach, describe, expect, test } from 'vitest'
import type { BlockDelta } from '../../shared/api/run-routes.ts'
import { streamOf } from '../emulators/openai-server.ts'
import { type ProviderServer, serveProvider } from '../emulators/provider-server.ts'
import { readMessages } from './sse-client.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
let server: ProviderServer | undefined
afterEach(async () => {
  await open?.close()
  await server?.close()
  open = undefined
  server = undefined
})

/** A model that says `first`, and the rest only when the test lets it. */
async function halting(first: string, rest: string) {
  const said = Promise.withResolvers<void>()
  server = await serveProvider(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = streamOf(first + rest).split(/(?<=\n\n)/)
    const before = events.findIndex((_, at) => textOf(events.slice(0, at + 1)) === first) + 1
    response.write(events.slice(0, before).join(''))
    await said.promise
    response.end(events.slice(before).join(''))
  })
  const providers = { model: { type: 'openai-compatible', url: server.url } }
  open = await openTestPlace({ listen: true }, { port: 0, providers })
  return { place: open, goOn: said.resolve }
}

function textOf(events: readonly string[]): string {
  return events
    .flatMap((event) =>
      event.startsWith('data: {') ? [JSON.parse(event.slice(6)).choices[0]?.delta?.content ?? ''] : [],
    )
    .join('')
}

const document = {
  blocks: [{ id: 'write', outputs: { text: 'string' }, agent: { provider: 'model', model: 'm', prompt: 'Write.' } }],
}

describe('what a model says', () => {
  test('is in the stream of its run before the model has ended, and in nothing that is kept', async () => {
    const { place, goOn } = await halting('First words, ', 'and the end.')
    const id = await place.start(document)
    const seen: string[] = []
    let told = ''
    for await (const { event, data, id: at } of readMessages(`${place.place.url}/api/dag/runs/${id}/events`)) {
      seen.push(event)
      if (event !== 'block:delta') continue
      const delta = JSON.parse(data) as BlockDelta
      expect(at).toBeUndefined()
      expect(delta).toMatchObject({ block_id: 'write', epoch: 0, attempt: 1, question: 0, from: told.length })
      told += delta.text
      // The model goes on when its first words were seen, and not before.
      if (told === 'First words, ') goOn()
    }
    expect('First words, and the end.').toContain(told)
    expect(told.length).toBeGreaterThanOrEqual('First words, '.length)
    expect(seen.indexOf('block:delta')).toBeLessThan(seen.indexOf('block:output'))
    const events = await place.ended(id)
    expect(events.map(({ type }) => type)).not.toContain('block:delta')
    expect(await place.place.world.live?.heard({ tenant: 'main', run_id: id })).toEqual([])
  })

  test('is told whole to who comes later, and to nobody who may not read the run', async () => {
    const { place, goOn } = await halting('First words, ', 'and the end.')
    const id = await place.start(document)
    const run = { tenant: 'main', run_id: id }
    while ((await place.place.world.live?.heard(run))?.[0]?.text !== 'First words, ')
      await place.place.world.live?.said(run, AbortSignal.timeout(50))
    for await (const { event, data } of readMessages(`${place.place.url}/api/dag/runs/${id}/events`)) {
      if (event !== 'block:delta') continue
      expect(JSON.parse(data)).toMatchObject({ from: 0, text: 'First words, ' })
      break
    }
    expect(await place.place.world.live?.heard({ tenant: 'other', run_id: id })).toEqual([])
    goOn()
    await place.ended(id)
  })
})
