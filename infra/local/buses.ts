import { appendFile, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../../shared/errors.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { type Buses, eventSource } from '../../shared/webhooks/buses.ts'
import { toDisk } from './to-disk.ts'

/** A file of this size is set aside as `NAME.1.jsonl`, in place of the one before. */
const MOST_BYTES = 67_108_864

/**
 * The Buses port of this place: EventBridge is nobody's here, so what a bus would be given is a line of
 * `<data_dir>/buses/<name>.jsonl`, in the form in which a rule hands it on. `tail -f` is a rule that matches everything.
 */
export function createBuses({ buses, data_dir, durability }: Settings): LocalBuses {
  const folder = join(data_dir, 'buses')
  const queues = new Map<string, Promise<unknown>>()
  return {
    async put(name, { type, at, message }) {
      const bus = buses.find((one) => one.name === name)
      if (bus === undefined) throw new Fault('Bug', 'unknown_bus', `The settings name no bus "${name}".`)
      const detail: unknown = JSON.parse(message.text)
      const head = { version: '0', id: message.id, 'detail-type': type, source: eventSource('local'), account: '' }
      const line = `${JSON.stringify({ ...head, time: at, region: 'local', resources: [], detail })}\n`
      const file = join(folder, `${name}.jsonl`)
      // One after another: whoever is late must not set aside what another has just begun.
      const written = (queues.get(name) ?? Promise.resolve()).then(() => write(folder, file, line))
      queues.set(
        name,
        written.catch(() => {}),
      )
      await written.catch((cause: unknown) => {
        const message = `Cannot write an event for bus "${name}" into ${file}: ${String(cause)}.`
        throw new Fault('Unavailable', 'bus_refused', message, { cause, facts: { bus: name } })
      })
      if (durability === 'full') toDisk(file)
    },
    async forget(run) {
      for (const name of await readdir(folder).catch(() => [])) {
        const queue = name.replace(/(\.1)?\.jsonl$/, '')
        const done = (queues.get(queue) ?? Promise.resolve()).then(() => removeLines(join(folder, name), run))
        queues.set(
          queue,
          done.catch(() => {}),
        )
        await done
      }
    },
  }
}

interface LocalBuses extends Buses {
  /** Removes what the files have of a run that is erased. */
  forget(run: RunKey): Promise<void>
}

/** The file appears whole, or stays as it was. */
async function removeLines(file: string, { tenant, run_id }: RunKey): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  const kept = lines.filter((line) => !(line.includes(run_id) && isOf(line, tenant, run_id)))
  if (kept.length === lines.length) return
  await writeFile(`${file}.tmp`, kept.join('\n'), { mode: 0o600 })
  await rename(`${file}.tmp`, file)
}

/** A line that is torn, as a power cut leaves one, and has the id is taken for one of it. */
function isOf(line: string, tenant: string, run_id: string): boolean {
  try {
    const { detail } = JSON.parse(line)
    return detail?.run_id === run_id && (detail.tenant === undefined || detail.tenant === tenant)
  } catch {
    return true
  }
}

async function write(folder: string, file: string, line: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { size = 0 } = (await stat(file).catch(() => undefined)) ?? {}
  if (size > MOST_BYTES) await rename(file, file.replace(/\.jsonl$/, '.1.jsonl'))
  await appendFile(file, line, { mode: 0o600 })
}
