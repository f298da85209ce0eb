import type { Clock } from '../../shared/ports/host.ts'

/** A time of the test that everything of a deployment goes by: it runs as time does, and jumps where `pass` says. */
export interface VirtualTime {
  readonly clock: Clock
  /** Milliseconds it is ahead of the machine's clock, as a Float64Array that sandboxes share. */
  readonly ahead: SharedArrayBuffer
  /** What waited for a time within it ends its wait. */
  pass(ms: number): void
}

export function openVirtualTime(): VirtualTime {
  const ahead = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT)
  const view = new Float64Array(ahead)
  const waits = new Set<Wait>()
  const now = () => Date.now() + (view[0] ?? 0)
  return {
    ahead,
    clock: { now, delay: (ms, signal) => delay(waits, { now, ms, signal }) },
    pass(ms) {
      view[0] = (view[0] ?? 0) + ms
      for (const wait of [...waits]) if (wait.due <= now()) wait.end()
    },
  }
}

interface Wait {
  readonly due: number
  end(): void
}

interface Delay {
  now(): number
  readonly ms: number
  readonly signal: AbortSignal | undefined
}

function delay(waits: Set<Wait>, { now, ms, signal }: Delay): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const leave = () => {
      clearTimeout(timer)
      waits.delete(wait)
      signal?.removeEventListener('abort', stop)
    }
    const stop = () => {
      leave()
      reject(signal?.reason)
    }
    const wait: Wait = {
      due: now() + ms,
      end() {
        leave()
        resolve()
      },
    }
    waits.add(wait)
    signal?.addEventListener('abort', stop, { once: true })
    // Timers count in 32 bits; nobody waits 24 days for a test.
    const timer = setTimeout(wait.end, Math.min(ms, 2_147_483_647))
  })
}

/** The clock of a sandbox: of all that asks Date for the time, bundles and AWS's clients among it. */
export function installVirtualTime(ahead: SharedArrayBuffer): void {
  const view = new Float64Array(ahead)
  const Real = Date
  const now = () => Real.now() + (view[0] ?? 0)
  globalThis.Date = new Proxy(Real, {
    apply: () => new Real(now()).toString(),
    construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  })
}
