import type { Json } from '../../../shared/text/json.ts'
import { CHAIN_DOCUMENTS, triggerChainSuite } from '../../conformance/trigger-chain-suite.ts'
import { openTriggerPlace } from './trigger-place.ts'

triggerChainSuite('the local place', async () => {
  const place = await openTriggerPlace('2026-06-01T12:00:00Z')
  for (const [name, text] of Object.entries(CHAIN_DOCUMENTS)) place.write(name, text)
  const route = async (method: string, path: string, body?: object) => {
    const [, , of, first, second] = path.split('/')
    const names = { events: 'send-event', triggers: 'get-trigger', dag: method === 'POST' ? 'start-run' : 'get-run' }
    const params =
      of === 'triggers' ? { document: first ?? '', trigger: second ?? '' } : { run_id: path.split('/')[4] ?? '' }
    const name = names[of as keyof typeof names]
    const { status, json } = await place.route(name, method === 'POST' ? null : params, body, { httpMethod: method })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`)
    return json
  }
  return {
    pass: async (seconds) => place.time.set(place.time.now() + seconds * 1_000),
    look: () => place.look(),
    call: route,
    async contexts(trigger) {
      const runs = (await place.runs()).filter(({ starter }) => starter === `trigger:${trigger}`)
      return new Map(runs.map(({ run_id, context }): [string, Json] => [run_id, context]))
    },
    close: () => place.close(),
  }
})
