import { everyDayEmulator } from '../../emulators/dynamodb.ts'
import { admitGraphStore } from './dynamodb-graph-store.ts'

const { name, start } = everyDayEmulator()
admitGraphStore(name, start)
