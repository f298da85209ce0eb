import { registerHooks } from 'node:module'
import { ProgramProblem } from '../../shared/errors.ts'

/**
 * Takes away what a program that is being evaluated must never reach, after the engine is loaded and before the first
 * job. Node's permissions keep it from files and programs; of the network they know nothing in this version, so every
 * way to it is closed here: modules, bindings and globals.
 */
export function closeEscapes(): void {
  closePrototype()
  closeModules()
  for (const name of NETWORK_GLOBALS) Reflect.deleteProperty(globalThis, name)
}

/**
 * For code of a project, which runs in a context without any of this: were there a way out of it, there would be no process
 * to end, to signal or to speak for. Whoever needs one of these has taken it before.
 */
export function closeProcess(): void {
  for (const name of PROCESS_DOORS) Reflect.deleteProperty(process, name)
  for (const name of ['process', 'Buffer', 'global', 'require', 'navigator', 'crypto', 'structuredClone']) {
    Reflect.deleteProperty(globalThis, name)
  }
}

const PROCESS_DOORS =
  'kill exit reallyExit abort send chdir umask argv execArgv execPath execve report stdin stdout stderr'.split(' ')

/**
 * JSONata reads inherited properties (`$.constructor`, `$.__proto__.__defineGetter__`) and calls what it finds there.
 * Without these names it meets no way from a value to a function that changes the process or makes code
 * (it does not look into functions themselves).
 */
function closePrototype(): void {
  const names = [
    'constructor',
    '__proto__',
    '__defineGetter__',
    '__defineSetter__',
    '__lookupGetter__',
    '__lookupSetter__',
  ]
  for (const name of names) Reflect.deleteProperty(Object.prototype, name)
}

/** No module is loaded any more, by whatever means: what the engine needs, it has. */
function closeModules(): void {
  registerHooks({
    resolve(specifier) {
      throw new ProgramProblem(`no module is loaded here: ${specifier.slice(0, 100)}`)
    },
  })
  for (const name of ['getBuiltinModule', 'binding', '_linkedBinding', 'dlopen', 'mainModule']) {
    Object.defineProperty(process, name, { value: undefined, configurable: false, writable: false })
  }
}

const NETWORK_GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'Worker', 'BroadcastChannel']
