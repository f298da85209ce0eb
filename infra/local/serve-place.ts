import { loginUrl } from '../../shared/api/page-login.ts'
import type { Principal } from '../../shared/principal.ts'
import type { Settings } from '../../shared/settings.ts'
import type { World } from '../../shared/world.ts'
import type { Host } from './host.ts'
import { keepSecret, makeSecret, openLogin } from './login.ts'
import { type LocalServer, listen } from './server.ts'

interface Served {
  readonly settings: Settings
  readonly host: Host
  readonly world: World
  readonly principal: Principal
  /** Folder of the built console; default: the package's own. */
  readonly consoleDir: string | undefined
  /** Nobody calls without what this start makes (login.ts); of no effect where the settings ask for a login already. */
  readonly asks: boolean
}

export interface ServedPlace extends LocalServer {
  /** Where this start made a secret: the address that opens the console, and the file commands read. */
  readonly opened?: { readonly console_url: string; readonly login_file: string }
}

/** The server of a place, with a login where its settings or its start ask for one. */
export async function servePlace(served: Served): Promise<ServedPlace> {
  const { settings, host, world, principal, consoleDir, asks } = served
  const login = settings.auth === undefined ? undefined : await openLogin({ settings, host, world, principal })
  const secret = asks && login === undefined ? makeSecret() : undefined
  const server = await listen(settings.port, {
    host,
    objects: world.objects,
    principal,
    log: world.log,
    maxBodyBytes: settings.safety.max_body_bytes,
    ...(login === undefined ? {} : { login }),
    ...(secret === undefined ? {} : { secret }),
    ...(consoleDir === undefined ? {} : { consoleDir }),
  })
  return secret === undefined ? server : withSecret(server, settings.data_dir, secret)
}

function withSecret(server: LocalServer, dataDir: string, secret: string): ServedPlace {
  const kept = keepSecret(dataDir, Number(new URL(server.url).port), secret)
  return {
    url: server.url,
    opened: { console_url: loginUrl(server.url, secret), login_file: kept.file },
    async close() {
      kept.forget()
      await server.close()
    },
  }
}
