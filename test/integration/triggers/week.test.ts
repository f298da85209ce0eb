import { triggerWeekSuite, WEEK_DOCUMENT } from '../../conformance/trigger-week-suite.ts'
import { openTriggerPlace } from './trigger-place.ts'

triggerWeekSuite('the local place', async () => {
  const place = await openTriggerPlace('2026-02-01T00:00:00Z')
  place.write('weekly', WEEK_DOCUMENT)
  const runs = async (trigger: string) => (await place.runs()).filter(({ starter }) => starter === `trigger:${trigger}`)
  return {
    now: () => place.time.now(),
    goTo: async (time) => place.time.set(time),
    look: () => place.look(),
    days: async (trigger) => (await runs(trigger)).map(({ context }) => (context as { day: string }).day),
    async missed(trigger) {
      const { json } = await place.route('get-trigger', { document: 'weekly', trigger }, undefined, {
        httpMethod: 'GET',
      })
      return (json as { trigger: { missed?: { count: number } } }).trigger.missed?.count ?? 0
    },
    close: () => place.close(),
  }
})
