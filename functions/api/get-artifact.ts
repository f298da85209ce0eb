import { RUN_DATA_ROUTES } from '../../shared/api/run-data-routes.ts'
import { Fault } from '../../shared/errors.ts'
import { asDownload, httpHandler } from '../http-handler.ts'
import { requireRun } from '../require-run.ts'

/** Artifacts are written by models: a browser saves one, and the wrapper's headers keep it from running as a page. */
export const handler = httpHandler({
  name: 'get-artifact',
  schema: RUN_DATA_ROUTES['get-artifact'],
  run: async (call, world) => {
    const { run } = await requireRun(world, call)
    const items = await world.runs.artifacts(run)
    const item = items.find(({ name }) => name === call.params.name)
    if (item === undefined) throw unknownArtifact(call.params.name, items)
    const body = await world.objects.get(run.tenant, item.ref)
    return {
      body,
      media_type: withCharset(item.media_type),
      headers: { etag: `"${item.sha256}"`, ...asDownload(item.name) },
    }
  },
})

function unknownArtifact(name: string, items: readonly { readonly name: string }[]): Fault {
  const there = items.map((item) => item.name).slice(0, 20)
  const message = `Cannot find artifact "${name}": this run has ${there.length === 0 ? 'none' : there.join(', ')}.`
  return new Fault('NotFound', 'unknown_artifact', message)
}

function withCharset(type: string): string {
  const safe = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w=-]+)*$/.test(type) ? type : 'application/octet-stream'
  return safe.startsWith('text/') && !safe.includes('charset') ? `${safe}; charset=utf-8` : safe
}
