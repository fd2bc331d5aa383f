// dnd-kit: sorting by pointer events, with a distance before it begins.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { DndContext, PointerSensor, closestCenter, useDraggable, useDroppable, useSensor, useSensors } from '@dnd-kit/core';
import { SortableContext, arrayMove, useSortable, verticalListSortingStrategy } from '@dnd-kit/sortable';

function Item({ id }) {
  const { attributes, listeners, setNodeRef, transform, transition } = useSortable({ id });
  const style = { height: 40, border: '1px solid', transition, transform: transform ? `translate3d(${transform.x}px, ${transform.y}px, 0)` : undefined };
  return <div ref={setNodeRef} style={style} {...attributes} {...listeners}>{id}</div>;
}
function Card() {
  const { attributes, listeners, setNodeRef, transform } = useDraggable({ id: 'card' });
  return <div ref={setNodeRef} {...attributes} {...listeners} style={{ width: 80, transform: transform ? `translate3d(${transform.x}px, ${transform.y}px, 0)` : undefined }}>Card</div>;
}
function Bin() {
  const { setNodeRef } = useDroppable({ id: 'bin' });
  return <section ref={setNodeRef} aria-label="Bin" style={{ height: 80, width: 300, border: '1px solid', marginTop: 40 }} />;
}
function Page() {
  const [order, setOrder] = useState(['One', 'Two', 'Three', 'Four']);
  const [dropped, setDropped] = useState('');
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 8 } }));
  useEffect(() => { window.state = { order, dropped }; });
  const ended = ({ active, over }) => over && setOrder((all) => arrayMove(all, all.indexOf(active.id), all.indexOf(over.id)));
  return (
    <>
      <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={ended}>
        <SortableContext items={order} strategy={verticalListSortingStrategy}>{order.map((id) => <Item key={id} id={id} />)}</SortableContext>
      </DndContext>
      <DndContext onDragEnd={({ active, over }) => setDropped(`${active.id}:${over?.id}`)}><Card /><Bin /></DndContext>
    </>
  );
}

createRoot(document.getElementById('root')).render(<Page />);
