import type { Socket } from 'node:net'

/** Requests of one connection that may wait; who sends more without reading is not waiting for answers. */
const MAX_WAITING = 100

/**
 * Runs the requests of each connection one after the other, as HTTP answers them anyway: together they would all hold
 * their answers for a client that reads none (64 KiB of requests ask for gigabytes). A connection with more than 100
 * waiting is closed, and what waits on a closed one is not run.
 */
export function inTurn(): (socket: Socket, run: () => Promise<void>) => void {
  const lines = new WeakMap<Socket, { last: Promise<void>; waiting: number }>()
  return (socket, run) => {
    const line = lines.get(socket) ?? { last: Promise.resolve(), waiting: 0 }
    lines.set(socket, line)
    line.waiting += 1
    if (line.waiting > MAX_WAITING) socket.destroy()
    line.last = line.last.then(async () => {
      if (!socket.destroyed) await run()
      line.waiting -= 1
    })
  }
}
