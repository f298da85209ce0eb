import type { Principal } from '../../shared/auth/principal.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { Fault } from '../../shared/errors.ts'
import { invocationLog } from '../../shared/ports/host.ts'
import type { World } from '../../shared/world.ts'

/** What a handler is given besides its event (functions/handler.ts reads it). */
interface HandlerContext {
  readonly world: World
  readonly signal?: AbortSignal
  readonly principal?: Principal
}

type Handler = (event: unknown, context: HandlerContext) => Promise<unknown>

/** Calls the functions of the catalog in this process, by name. */
export interface Host {
  invoke(name: string, payload: unknown, options?: Omit<HandlerContext, 'world'>): Promise<unknown>
}

/**
 * The host of the handlers: a function's file is imported at its first call and kept, so that a call costs no
 * import and a place that never asks an approval never loads that code. `world` is read at each call because the World
 * itself holds ports that call back in here.
 */
export function createHost(world: () => World): Host {
  const handlers = new Map<string, Handler>()
  let calls = 0
  return {
    invoke(name, payload, options) {
      calls += 1
      const context = { world: ownWorld(world(), name, calls), ...options }
      const handler = handlers.get(name)
      if (handler !== undefined) return handler(payload, context)
      return loadHandler(name).then((loaded) => {
        handlers.set(name, loaded)
        return loaded(payload, context)
      })
    },
  }
}

/**
 * The World of one call, whose lines in the log say what was called, and which call of this process it is. Copied: what
 * inherits from another object looks its members up anew in every call (docs/adr/0083).
 */
function ownWorld(world: World, name: string, call: number): World {
  const log = invocationLog(world.log, { function: name, request_id: `${world.ids.boot}-${call}` })
  return { ...world, log }
}

let loads = 0

/** Whether code of a handler is being loaded: in virtual time nothing is at rest meanwhile. */
export function isLoadingHandlers(): boolean {
  return loads > 0
}

const FILES = new Map(FUNCTIONS.map(({ name, file }) => [name, file]))

async function loadHandler(name: string): Promise<Handler> {
  const file = FILES.get(name)
  if (file === undefined) throw new Fault('Bug', 'unknown_function', `Cannot call "${name}": it is not in the catalog.`)
  loads += 1
  const loading: Promise<{ readonly handler?: unknown }> = import(
    new URL(`../../functions/${file}`, import.meta.url).href
  )
  const module = await loading.finally(() => {
    loads -= 1
  })
  if (typeof module.handler !== 'function') {
    throw new Fault('Bug', 'no_handler', `Cannot call "${name}": functions/${file} does not export "handler".`)
  }
  // The wrappers in functions/ are the only makers of handlers; their context is the one above.
  return module.handler as Handler
}
