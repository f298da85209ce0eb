import { systemClock } from '../../infra/local/clock-and-log.ts'
import { createLive } from '../../infra/local/live.ts'
import { liveSuite } from './live-suite.ts'

liveSuite('one process', () => ({ live: createLive(systemClock), close: async () => {} }))
