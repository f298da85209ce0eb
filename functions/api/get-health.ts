import manifest from '../../package.json' with { type: 'json' }
import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { HealthPart, PartHealth } from '../../shared/ports/health.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'get-health',
  schema: PLACE_ROUTES['get-health'],
  run: async (_call, world) => {
    const { at, parts } = await world.health.look()
    const answer = { version: manifest.version, checked_at: new Date(at).toISOString(), parts }
    const failed = NEEDED.filter((part) => parts[part].state === 'failed')
    if (failed.length > 0) throw unable(failed, answer)
    const status = parts.isolates.state === 'failed' ? ('degraded' as const) : ('ok' as const)
    const project = world.health.project?.()
    return { json: { status, ...answer, ...(project === undefined ? {} : { project }) } }
  },
})

/** Without one of them no run can be started: a load balancer, a script or a person is told so by the status alone. */
const NEEDED: readonly HealthPart[] = ['reads', 'writes', 'machine']

function unable(
  failed: readonly HealthPart[],
  answer: { readonly parts: Readonly<Record<HealthPart, PartHealth>>; readonly checked_at: string },
): Fault {
  const seen = failed.map((part) => `${part} (${answer.parts[part].why})`).join('; ')
  const message = `Cannot start anything: these parts of the place failed when they were tried: ${seen}`
  return new Fault('Unavailable', 'place_unable', message, { facts: { status: 'unable', ...answer } })
}
