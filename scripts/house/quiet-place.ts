import { createLog } from '../../infra/local/clock-and-log.ts'
import { openPlace } from '../../infra/local/place.ts'
import { readSettings } from '../../infra/local/settings.ts'

/** A place as `sluice start` opens it, but that nothing happens in it by itself: only what it is asked is counted. */
const { settings, keys } = readSettings(process.argv.slice(2), process.env, process.cwd())
const place = await openPlace(settings, { listen: true, log: createLog(false), keys, sweep_ms: 0 })
process.stdout.write(`${JSON.stringify({ url: place.url })}\n`)
process.on('SIGTERM', () => void place.close().then(() => process.exit(0)))
