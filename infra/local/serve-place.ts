import type { Principal } from '../../shared/principal.ts'
import type { Settings } from '../../shared/settings.ts'
import type { World } from '../../shared/world.ts'
import type { Host } from './host.ts'
import { openLogin } from './login.ts'
import { type LocalServer, listen } from './server.ts'

interface Served {
  readonly settings: Settings
  readonly host: Host
  readonly world: World
  readonly principal: Principal
  /** Folder of the built console; default: the package's own. */
  readonly consoleDir: string | undefined
}

/** The server of a place, with a login where its settings ask for one. */
export async function servePlace({ settings, host, world, principal, consoleDir }: Served): Promise<LocalServer> {
  const login = settings.auth === undefined ? undefined : await openLogin({ settings, host, world, principal })
  return listen(settings.port, {
    host,
    objects: world.objects,
    principal,
    log: world.log,
    maxBodyBytes: settings.safety.max_body_bytes,
    ...(login === undefined ? {} : { login }),
    ...(consoleDir === undefined ? {} : { consoleDir }),
  })
}
