import { lookAtViews } from './axe-on-views.ts';

lookAtViews(1);
