import type { World } from '../../../shared/world.ts'

/** The same World but for these ports; what it refuses to give, it still refuses. */
export function withPorts(world: World, ports: Partial<World>): World {
  return Object.assign(Object.create(world), ports)
}
