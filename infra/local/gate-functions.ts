import { FUNCTIONS } from '../../shared/catalog.ts'
import type { GuardedAnswer, Http, Shell, ShellAnswer } from '../../shared/gates/gate-ports.ts'

type Invoke = (name: string, payload: unknown) => Promise<unknown>

/** The ports that gates act through: the functions of the catalog that serve them, in this process, under the same limits. */
export function createGateFunctions(invoke: Invoke): { readonly http: Http; readonly shell: Shell } {
  return {
    // Their handlers answer these types, and nothing comes between here.
    http: { request: (request) => invoke(nameOf('http'), request) as Promise<GuardedAnswer> },
    shell: { run: (command) => invoke(nameOf('shell'), command) as Promise<ShellAnswer> },
  }
}

function nameOf(port: 'http' | 'shell'): string {
  return FUNCTIONS.find(({ serves }) => serves === port)?.name ?? port
}
